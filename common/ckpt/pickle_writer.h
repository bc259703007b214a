/* pickle_writer.h - writes pickles of protocol 2, opcode by opcode.
 *
 * After a failed allocation, later calls do nothing; cov_pickle_stop returns the error.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CKPT_PICKLE_WRITER_H
#define COV_CKPT_PICKLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_pickle_writer {
    uint8_t *data; /* Owned: free() */
    size_t n_bytes, cap;
    struct cov_err err; /* the first failure */
};

#define COV_PICKLE_WRITER_INIT                                                                     \
    {                                                                                              \
        0, 0, 0, COV_ERR_INIT                                                                      \
    }

void cov_pickle_begin(struct cov_pickle_writer *w);
int cov_pickle_stop(struct cov_pickle_writer *w, struct cov_err *e) COV_MUST_USE;

/* Push a value. Strings are UTF-8. */
void cov_pickle_none(struct cov_pickle_writer *w);
void cov_pickle_bool(struct cov_pickle_writer *w, bool value);
void cov_pickle_int(struct cov_pickle_writer *w, int64_t value);
void cov_pickle_float(struct cov_pickle_writer *w, double value);
void cov_pickle_text(struct cov_pickle_writer *w, const char *text);
void cov_pickle_global(struct cov_pickle_writer *w, const char *module, const char *name);

/* Values pushed between begin and end become a tuple, the items of a list, or alternately the
 * keys and values of a dict. */
void cov_pickle_begin_tuple(struct cov_pickle_writer *w);
void cov_pickle_end_tuple(struct cov_pickle_writer *w);
void cov_pickle_begin_list(struct cov_pickle_writer *w);
void cov_pickle_end_list(struct cov_pickle_writer *w);
void cov_pickle_begin_dict(struct cov_pickle_writer *w);
void cov_pickle_end_dict(struct cov_pickle_writer *w);
/* Begins a collections.OrderedDict; end it with cov_pickle_end_dict. */
void cov_pickle_begin_ordered_dict(struct cov_pickle_writer *w);

/* Replaces the topmost tuple and the global below it with the result of calling the global with
 * the tuple as its arguments. */
void cov_pickle_call(struct cov_pickle_writer *w);
/* Replaces the topmost value, a persistent id, with the object that the reader finds under this
 * id. */
void cov_pickle_persistent(struct cov_pickle_writer *w);

#endif
