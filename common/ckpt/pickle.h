/* pickle.h - reads Python pickles as trees of values, for files written by torch.save (protocols 2
 * to 5).
 *
 * This is not an unpickler: it imports, calls and constructs nothing. Calls in a pickle are kept as
 * data (OBJECT), and only names in the caller's allow-list are accepted. The reader does not
 * recurse, and limits the number and depth of values. Opcodes are those of Python's
 * Lib/pickletools.py; for an opcode that torch.save does not write, the reader fails.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CKPT_PICKLE_H
#define COV_CKPT_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

enum cov_pickle_kind {
    COV_PICKLE_NONE,
    COV_PICKLE_BOOL,
    COV_PICKLE_INT,
    COV_PICKLE_LONG, /* more than 64 bits: `text` is its little-endian two's complement */
    COV_PICKLE_FLOAT,
    COV_PICKLE_STRING, /* UTF-8 */
    COV_PICKLE_BYTES,
    COV_PICKLE_LIST,
    COV_PICKLE_TUPLE,
    COV_PICKLE_SET,
    COV_PICKLE_DICT,
    COV_PICKLE_GLOBAL,     /* a name in the allow-list: a class or function */
    COV_PICKLE_OBJECT,     /* the recorded call of `callee` with `args`; may have `state`, items */
    COV_PICKLE_PERSISTENT, /* an object outside the pickle, identified by `args` */
};

/* An allowed name. `tag` is for the caller's use. */
struct cov_pickle_name {
    const char *module, *name;
    int tag;
};

/* Values form an acyclic graph, at most 100 deep. A value may be reached along many paths, so
 * that walking all of them can take exponential time: visit only what is needed. */
struct cov_pickle_value {
    enum cov_pickle_kind kind;
    unsigned depth; /* 0: a leaf; else 1 + the largest depth of the values inside */
    bool sealed;    /* stored in another value, so it must no longer change */
    union {
        bool boolean;
        int64_t integer;
        double number;
        struct {
            const char *data; /* not NUL-terminated. Borrowed from the pickle */
            size_t n_bytes;
        } text;
        const struct cov_pickle_name *global;
        struct {
            struct cov_pickle_value *callee, *args, *state; /* state may be NULL */
        } object;
    } u;
    /* LIST, TUPLE, SET: the items. DICT, OBJECT: key, value, key, value, ... */
    struct cov_pickle_value **items;
    size_t n_items, cap_items;
};

struct cov_pickle;

/* Reads the pickle data[0..n) with the allow-list names[0..n_names); both are borrowed until
 * free. The limits are 2^22 values and a depth of 100. The message of
 * COV_EINPUT gives the byte offset; for a name that is not allowed, it is "pickle imports
 * os.system, which is not allowed; nothing was executed". */
int cov_pickle_read(const void *data, size_t n, const struct cov_pickle_name *names, size_t n_names,
                    struct cov_pickle **out, struct cov_err *e) COV_MUST_USE;
void cov_pickle_free(struct cov_pickle *p); /* NULL is accepted */

const struct cov_pickle_value *cov_pickle_root(const struct cov_pickle *p);

/* Returns the value of a string key in a DICT or OBJECT; if the key occurs several times, the
 * last value, as in Python. Returns NULL if the key is missing or v is of another kind. */
const struct cov_pickle_value *cov_pickle_get(const struct cov_pickle_value *v, const char *key);

/* Returns true if v is the STRING `text`. */
bool cov_pickle_is_string(const struct cov_pickle_value *v, const char *text);

/* Copies a STRING to a new C string; release it with free(). Fails with COV_EINPUT if v is not a
 * STRING or contains a zero byte. */
int cov_pickle_string(const struct cov_pickle_value *v, char **out, struct cov_err *e) COV_MUST_USE;

/* Returns the Python type, for messages: "dict", "tuple", ... */
const char *cov_pickle_type(const struct cov_pickle_value *v);

#endif
