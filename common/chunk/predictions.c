/* predictions.c - see predictions.h.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/predictions.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/text.h"
#include "common/chunk/chunk_table.h"

/* ---- how they were made ---- */

bool cov_made_by_known_models(const struct cov_chunk_head *a, const struct cov_chunk_head *b)
{
    return cov_chunk_head_attr(a, NULL, COV_MADE_MODEL) &&
           cov_chunk_head_attr(b, NULL, COV_MADE_MODEL);
}

/* Returns the options that follow the name of the model, as covpredict writes them, or the whole
 * command; NULL if there is none. */
static const char *options_made_with(const struct cov_chunk_head *h)
{
    static const char first[] = " --subsequence-length ";
    const char *command = cov_chunk_head_attr(h, NULL, COV_MADE_COMMAND), *options = command;
    for (const char *at = command; at && (at = strstr(at, first)); at++)
        options = at;
    return options;
}

bool cov_made_with_same_options(const struct cov_chunk_head *a, const struct cov_chunk_head *b)
{
    return cov_made_by_known_models(a, b)
               ? cov_text_same(options_made_with(a), options_made_with(b))
               : cov_chunk_head_same_attr(a, b, NULL, COV_MADE_COMMAND);
}

/* ---- the head ---- */

/* Text widths in Predmoter's files. */
enum { MODEL_BYTES = 256, DATASET_BYTES = 25 };

static struct cov_h5_type h5_type(enum cov_predictions_type type)
{
    static const size_t bytes[] = {
        [COV_PREDICTIONS_INT16] = 2,
        [COV_PREDICTIONS_INT32] = 4,
        [COV_PREDICTIONS_INT64] = 8,
        [COV_PREDICTIONS_FLOAT32] = 4,
    };
    return (struct cov_h5_type){type == COV_PREDICTIONS_FLOAT32 ? COV_H5_FLOAT : COV_H5_INT,
                                bytes[type], true, false, '\0'};
}

static int add_texts(struct cov_chunk_head *h, const char *name, size_t usual,
                     const char *const *texts, size_t n, struct cov_err *e)
{
    const struct cov_text_list list = {n, cov_text_of_array, texts};
    size_t width = cov_text_width(name, usual, &list);
    return cov_chunk_head_add_texts(h, name, width, n, texts, e);
}

/* Stores the fill value of missing rows, which is -1 in each type. */
static void put_fill(enum cov_predictions_type type, uint8_t fill[8])
{
    static const uint8_t minus_one[4] = {0, 0, 0x80, 0xbf};
    memset(fill, 0xff, 8);
    if (type == COV_PREDICTIONS_FLOAT32)
        memcpy(fill, minus_one, sizeof minus_one);
}

/* Adds the attributes for predictions of regions and for overlapping windows. */
static int add_attrs(struct cov_chunk_head *out, const char *set,
                     const struct cov_predictions_options *options, struct cov_err *e)
{
    char text[32];
    int rc = COV_OK;
    (void)snprintf(text, sizeof text, "%016" PRIx64, options->regions);
    if (options->has_regions)
        rc = cov_chunk_head_add_attr(out, set, COV_PREDICTIONS_OUTSIDE_ATTR, "-1", e);
    if (!rc && options->has_regions)
        rc = cov_chunk_head_add_attr(out, set, COV_PREDICTIONS_REGIONS_ATTR, text, e);
    (void)snprintf(text, sizeof text, "%zu", options->overlap);
    if (!rc && options->overlap > 0)
        rc = cov_chunk_head_add_attr(out, set, COV_PREDICTIONS_OVERLAP_ATTR, text, e);
    return rc;
}

static int add_made(struct cov_chunk_head *out, const struct cov_predictions_options *options,
                    struct cov_err *e)
{
    const struct cov_predictions_made *made = &options->made;
    const struct {
        const char *name, *text;
    } attrs[] = {{COV_MADE_TOOL, made->tool},           {COV_MADE_COMMAND, made->command},
                 {COV_MADE_PRECISION, made->precision}, {COV_MADE_DEVICE, made->device},
                 {COV_MADE_MODEL, made->model_sha256},  {COV_SHARD_ATTR, options->shard},
                 {COV_GENOME_ATTR, options->genome}};
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < COV_COUNT(attrs); i++)
        if (attrs[i].text)
            rc = cov_chunk_head_add_attr(out, NULL, attrs[i].name, attrs[i].text, e);
    return rc;
}

int cov_predictions_head(size_t L, const struct cov_predictions_options *options,
                         struct cov_chunk_head *out, struct cov_err *e)
{
    uint8_t fill[8];
    char name[] = COV_PREDICTIONS_SET;
    put_fill(options->type, fill);
    const struct cov_chunk_set set = {
        .name = name,
        .type = h5_type(options->type),
        .rank = 3,
        .dims = {L, options->n_datasets},
        .fill = fill,
    };
    memset(out, 0, sizeof *out);
    if (L > COV_H5_MAX_BYTES / 8)
        return cov_fail(e, COV_EINPUT, "subsequences of %zu bases are too long for an HDF5 file",
                        L);
    out->L = L;
    int rc = cov_chunk_head_add_set(out, &set, e);
    if (!rc)
        rc = add_attrs(out, name, options, e);
    if (!rc)
        rc = add_made(out, options, e);
    if (!rc)
        rc = add_texts(out, COV_PREDICTIONS_MODEL, MODEL_BYTES, &options->model_name, 1, e);
    if (!rc)
        rc = add_texts(out, COV_PREDICTIONS_DATASETS, DATASET_BYTES, options->datasets,
                       options->n_datasets, e);
    if (rc)
        cov_chunk_head_fini(out);
    return rc;
}

/* ---- values ---- */

/* Stores little-endian integers. Returns the number of values before the first that does not fit.
 * `bytes` is a constant, so that memcpy becomes one store: gcc does not merge those of single
 * bytes. */
static inline __attribute__((always_inline)) size_t
put_integers(const float *values, size_t n, size_t bytes, float limit, uint8_t *dst)
{
    for (size_t t = 0; t < n; t++) {
        float v = values[t];
        if (!(v >= -limit && v < limit)) /* also NaN */
            return t;
        uint64_t x = htole64((uint64_t)(int64_t)v);
        memcpy(dst + t * bytes, &x, bytes);
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
        x = htole32(x);
        memcpy(dst + t * sizeof x, &x, sizeof x);
    }
    return n;
}

/* Values must satisfy -2^(bits-1) <= v < 2^(bits-1). Both limits are exact as floats. */
static size_t put_values(const struct cov_h5_type *type, const float *values, size_t n,
                         uint8_t *dst)
{
    if (type->kind == COV_H5_FLOAT)
        return put_floats(values, n, dst);
    switch (type->bytes) {
    case 2:
        return put_integers(values, n, 2, 0x1p15F, dst);
    case 4:
        return put_integers(values, n, 4, 0x1p31F, dst);
    default:
        return put_integers(values, n, 8, 0x1p63F, dst);
    }
}

int cov_predictions_pack(const struct cov_chunk_set *set, const float *values, const char *name,
                         const struct cov_chunk *chunk, uint8_t *elems, struct cov_err *e)
{
    size_t n = set->dims[0] * set->dims[1], good = put_values(&set->type, values, n, elems);
    if (good == n)
        return COV_OK;
    int64_t t = (int64_t)(good / set->dims[1]);
    return cov_fail(e, COV_EINPUT,
                    "%s:%" PRId64 ", %c strand: the value %g does not fit the output type %s%zu",
                    name, chunk->minus ? chunk->end - t : chunk->beg + t + 1,
                    chunk->minus ? '-' : '+', (double)values[good],
                    set->type.kind == COV_H5_FLOAT ? "float" : "int", 8 * set->type.bytes);
}
