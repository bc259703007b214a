/* pickle_writer.c - see pickle_writer.h. The memo is not used: a value needed twice is written
 * twice.
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/pickle_writer.h"

#include <string.h>

#include "common/base/mem.h"

static void put(struct cov_pickle_writer *w, const void *data, size_t n)
{
    if (w->err.code)
        return;
    int rc = COV_RESERVE(&w->data, &w->cap, w->n_bytes + n, &w->err);
    if (rc)
        return;
    memcpy(w->data + w->n_bytes, data, n);
    w->n_bytes += n;
}

static void put_op(struct cov_pickle_writer *w, char op)
{
    put(w, &op, 1);
}

/* Writes `op` and the low n bytes of `number`, little-endian. */
static void put_number(struct cov_pickle_writer *w, char op, uint64_t number, size_t n)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    put_op(w, op);
    put(w, bytes, n);
}

void cov_pickle_begin(struct cov_pickle_writer *w)
{
    put_number(w, '\x80', 2, 1); /* PROTO */
}

int cov_pickle_stop(struct cov_pickle_writer *w, struct cov_err *e)
{
    put_op(w, '.');
    return w->err.code ? cov_fail(e, w->err.code, "%s", w->err.text) : COV_OK;
}

void cov_pickle_none(struct cov_pickle_writer *w)
{
    put_op(w, 'N');
}

void cov_pickle_bool(struct cov_pickle_writer *w, bool value)
{
    put_op(w, value ? '\x88' : '\x89'); /* NEWTRUE, NEWFALSE */
}

void cov_pickle_int(struct cov_pickle_writer *w, int64_t value)
{
    if (value >= 0 && value <= UINT8_MAX)
        put_number(w, 'K', (uint64_t)value, 1); /* BININT1 */
    else if (value >= 0 && value <= UINT16_MAX)
        put_number(w, 'M', (uint64_t)value, 2); /* BININT2 */
    else if (value >= INT32_MIN && value <= INT32_MAX)
        put_number(w, 'J', (uint64_t)value, 4); /* BININT */
    else {
        put_number(w, '\x8a', 8, 1); /* LONG1 of eight bytes */
        for (int i = 0; i < 8; i++)
            put_op(w, (char)((uint64_t)value >> (8 * i)));
    }
}

void cov_pickle_float(struct cov_pickle_writer *w, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(w, 'G', __builtin_bswap64(bits), 8); /* BINFLOAT, big-endian */
}

void cov_pickle_text(struct cov_pickle_writer *w, const char *text)
{
    size_t n = strlen(text);
    if (n > UINT32_MAX) {
        (void)cov_fail(&w->err, COV_EUNSUPPORTED, "a string of %zu bytes in a pickle", n);
        return;
    }
    put_number(w, 'X', n, 4); /* BINUNICODE */
    put(w, text, n);
}

void cov_pickle_global(struct cov_pickle_writer *w, const char *module, const char *name)
{
    put_op(w, 'c');
    put(w, module, strlen(module));
    put_op(w, '\n');
    put(w, name, strlen(name));
    put_op(w, '\n');
}

void cov_pickle_begin_tuple(struct cov_pickle_writer *w)
{
    put_op(w, '('); /* MARK */
}

void cov_pickle_end_tuple(struct cov_pickle_writer *w)
{
    put_op(w, 't'); /* TUPLE */
}

void cov_pickle_begin_list(struct cov_pickle_writer *w)
{
    put_op(w, ']'); /* EMPTY_LIST */
    put_op(w, '(');
}

void cov_pickle_end_list(struct cov_pickle_writer *w)
{
    put_op(w, 'e'); /* APPENDS */
}

void cov_pickle_begin_dict(struct cov_pickle_writer *w)
{
    put_op(w, '}'); /* EMPTY_DICT */
    put_op(w, '(');
}

void cov_pickle_end_dict(struct cov_pickle_writer *w)
{
    put_op(w, 'u'); /* SETITEMS */
}

void cov_pickle_begin_ordered_dict(struct cov_pickle_writer *w)
{
    cov_pickle_global(w, "collections", "OrderedDict");
    put_op(w, ')'); /* EMPTY_TUPLE */
    cov_pickle_call(w);
    put_op(w, '(');
}

void cov_pickle_call(struct cov_pickle_writer *w)
{
    put_op(w, 'R'); /* REDUCE */
}

void cov_pickle_persistent(struct cov_pickle_writer *w)
{
    put_op(w, 'Q'); /* BINPERSID */
}
