/* predictions_head.c - see signal_file.h: writing predictions as Predmoter does.
 * SPDX-License-Identifier: MIT */
#include "common/store/signal_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/store/chunk_file.h"
#include "common/store/chunk_table.h"

/* Widths of texts in Predmoter's files. */
enum { MODEL_BYTES = 256, DATASET_BYTES = 25 };

struct cov_h5_type cov_signal_h5_type(enum cov_signal_type type)
{
    static const size_t bytes[] = {
        [COV_SIGNAL_INT16] = 2,
        [COV_SIGNAL_INT32] = 4,
        [COV_SIGNAL_INT64] = 8,
        [COV_SIGNAL_FLOAT32] = 4,
    };
    return (struct cov_h5_type){type == COV_SIGNAL_FLOAT32 ? COV_H5_FLOAT : COV_H5_INT, bytes[type],
                                true, false, '\0'};
}

static const char *nth_text(const void *arg, size_t i)
{
    const char *const *texts = arg;
    return texts[i];
}

static int add_texts(struct cov_chunk_head *h, const char *name, size_t usual,
                     const char *const *texts, size_t n, struct cov_err *e)
{
    size_t width = cov_text_width(name, usual, n, nth_text, texts);
    return cov_chunk_head_add_texts(h, name, width, n, texts, e);
}

/* What is in rows that were never written: -1 in any type. */
static void put_fill(enum cov_signal_type type, uint8_t fill[8])
{
    static const uint8_t minus_one[4] = {0, 0, 0x80, 0xbf};
    memset(fill, 0xff, 8);
    if (type == COV_SIGNAL_FLOAT32)
        memcpy(fill, minus_one, sizeof minus_one);
}

/* How the values came about, as far as they are not those of whole chunks, each predicted by
 * itself. */
static int add_attrs(struct cov_chunk_head *out, const char *set,
                     const struct cov_predictions_options *options, struct cov_err *e)
{
    char text[32];
    int rc = COV_OK;
    (void)snprintf(text, sizeof text, "%016" PRIx64, options->regions);
    if (options->has_regions)
        rc = cov_chunk_head_add_attr(out, set, COV_SIGNAL_REGIONS_ATTR, "-1", e);
    if (!rc && options->has_regions)
        rc = cov_chunk_head_add_attr(out, set, COV_SIGNAL_WHICH_ATTR, text, e);
    (void)snprintf(text, sizeof text, "%zu", options->overlap);
    if (!rc && options->overlap > 0)
        rc = cov_chunk_head_add_attr(out, set, COV_SIGNAL_OVERLAP_ATTR, text, e);
    return rc;
}

int cov_predictions_head(size_t L, const struct cov_predictions_options *options,
                         struct cov_chunk_head *out, struct cov_err *e)
{
    uint8_t fill[8];
    char name[] = "prediction/predictions";
    put_fill(options->type, fill);
    const struct cov_chunk_set set = {
        .name = name,
        .type = cov_signal_h5_type(options->type),
        .rank = 3,
        .dims = {L, options->n_datasets},
        .fill = fill,
    };
    memset(out, 0, sizeof *out);
    if (L > COV_H5_MAX_BYTES / 8)
        return cov_fail(e, COV_EUSAGE, "subsequences of %zu bases are too long for a file", L);
    out->L = L;
    int rc = cov_chunk_head_add_set(out, &set, e);
    if (!rc)
        rc = add_attrs(out, name, options, e);
    if (!rc)
        rc = add_texts(out, "prediction/model_name", MODEL_BYTES, &options->model_name, 1, e);
    if (!rc)
        rc = add_texts(out, "prediction/datasets", DATASET_BYTES, options->datasets,
                       options->n_datasets, e);
    if (rc)
        cov_chunk_head_fini(out);
    return rc;
}

/* ---- values ---- */

/* Stores integers little-endian. Returns how many of the n values fit, in order. */
static inline __attribute__((always_inline)) size_t
put_integers(const float *values, size_t n, size_t bytes, float limit, uint8_t *dst)
{
    for (size_t t = 0; t < n; t++) {
        float v = values[t];
        if (!(v >= -limit && v < limit)) /* NaN too */
            return t;
        uint64_t x = (uint64_t)(int64_t)v;
        for (size_t j = 0; j < bytes; j++)
            dst[t * bytes + j] = (uint8_t)(x >> 8 * j);
    }
    return n;
}

static size_t put_floats(const float *values, size_t n, uint8_t *dst)
{
    for (size_t t = 0; t < n; t++) {
        float v = values[t];
        if (!(v - v == 0.0F)) /* false for NaN and infinity */
            return t;
        uint32_t x;
        memcpy(&x, &v, sizeof x);
        for (size_t j = 0; j < 4; j++)
            dst[t * 4 + j] = (uint8_t)(x >> 8 * j);
    }
    return n;
}

static size_t put_values(enum cov_signal_type type, const float *values, size_t n, uint8_t *dst)
{
    /* -2^(bits-1) <= v < 2^(bits-1): both limits are exact as float. */
    switch (type) {
    case COV_SIGNAL_INT16:
        return put_integers(values, n, 2, 0x1p15F, dst);
    case COV_SIGNAL_INT32:
        return put_integers(values, n, 4, 0x1p31F, dst);
    case COV_SIGNAL_INT64:
        return put_integers(values, n, 8, 0x1p63F, dst);
    case COV_SIGNAL_FLOAT32:
        break;
    }
    return put_floats(values, n, dst);
}

static int fail_value(enum cov_signal_type type, const char *name, const struct cov_chunk *c,
                      size_t t, float value, struct cov_err *e)
{
    int64_t at = c->minus ? c->end - (int64_t)t : c->beg + (int64_t)t + 1;
    return cov_fail(e, COV_EINPUT,
                    "%s:%" PRId64 ", %c strand: the value %g does not fit the type of "
                    "the output (%s)",
                    name, at, c->minus ? '-' : '+', (double)value,
                    type == COV_SIGNAL_FLOAT32 ? "float32"
                    : type == COV_SIGNAL_INT16 ? "int16"
                    : type == COV_SIGNAL_INT32 ? "int32"
                                               : "int64");
}

int cov_signal_pack(enum cov_signal_type type, const float *values, size_t L, size_t D,
                    const char *name, const struct cov_chunk *chunk, uint8_t *elems,
                    struct cov_err *e)
{
    size_t n = put_values(type, values, L * D, elems);
    return n == L * D ? COV_OK : fail_value(type, name, chunk, n / D, values[n], e);
}
