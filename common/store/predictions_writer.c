/* predictions_writer.c - see signal_file.h: writing predictions as Predmoter does.
 * SPDX-License-Identifier: MIT */
#include "common/store/signal_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/store/chunk_table.h"
#include "common/store/h5.h"

/* Widths of texts and the declared level, as in Predmoter's files. */
enum { SPECIES_BYTES = 50, MODEL_BYTES = 256, DATASET_BYTES = 25, DECLARED_LEVEL = 9 };

struct cov_predictions_writer {
    struct cov_h5 *h5;
    struct cov_h5_set *set;
    const struct cov_grid *grid;
    struct cov_codec_choice compression;
    enum cov_signal_type type;
    size_t bytes; /* of an element */
    size_t L, n_datasets;
    struct cov_filter filters[3];
    size_t n_filters;
};

static const char *nth_text(const void *arg, size_t i)
{
    const char *const *texts = arg;
    return texts[i];
}

static int write_texts(struct cov_predictions_writer *w, const char *name, size_t usual,
                       const char *const *texts, size_t n, struct cov_err *e)
{
    static const struct cov_codec_choice none = {COV_CODEC_NONE, 0};
    size_t width = cov_text_width(name, usual, n, nth_text, texts);
    return cov_texts_write(w->h5, name, width, n, nth_text, texts, n, none, e);
}

static int write_head(struct cov_predictions_writer *w, const char *path,
                      const struct cov_predictions_options *options, struct cov_err *e)
{
    int rc = cov_h5_create(path, &w->h5, e);
    if (!rc)
        rc = cov_chunk_table_write(w->h5, w->grid, SPECIES_BYTES, w->compression, e);
    if (!rc)
        rc = write_texts(w, "prediction/model_name", MODEL_BYTES, &options->model_name, 1, e);
    if (!rc)
        rc = write_texts(w, "prediction/datasets", DATASET_BYTES, options->datasets, w->n_datasets,
                         e);
    if (rc)
        return rc;
    bool is_float = w->type == COV_SIGNAL_FLOAT32;
    struct cov_h5_new spec = {
        .type = {is_float ? COV_H5_FLOAT : COV_H5_INT, w->bytes, true, false, '\0'},
        .rank = 3,
        .dims = {cov_grid_n_chunks(w->grid), w->L, w->n_datasets},
        .unlimited = {true, false, true},
        .chunk = {1, w->L, 1},
        .deflate_level = DECLARED_LEVEL,
        .fill = -1,
    };
    /* Predmoter does not shuffle, and deflate gains nothing by it on small integers; floats shrink
     * by a fifth, and the other compressions need it. */
    spec.n_filters = cov_h5_filters(w->compression, w->bytes, spec.filters);
    if (!is_float && spec.n_filters > 1 && spec.filters[1].id == COV_H5_DEFLATE)
        spec.n_filters = cov_h5_filters(w->compression, 0, spec.filters);
    memcpy(w->filters, spec.filters, sizeof w->filters);
    w->n_filters = spec.n_filters;
    return cov_h5_set_create(w->h5, "prediction/predictions", &spec, &w->set, e);
}

int cov_predictions_writer_new(const char *path, const struct cov_grid *grid,
                               const struct cov_predictions_options *options,
                               struct cov_predictions_writer **out, struct cov_err *e)
{
    static const size_t bytes[] = {
        [COV_SIGNAL_INT16] = 2,
        [COV_SIGNAL_INT32] = 4,
        [COV_SIGNAL_INT64] = 8,
        [COV_SIGNAL_FLOAT32] = 4,
    };
    *out = NULL;
    size_t L = cov_grid_chunk_length(grid);
    if (L > COV_H5_MAX_BYTES / 8)
        return cov_fail(e, COV_EUSAGE, "subsequences of %zu bases are too long for a file", L);
    struct cov_predictions_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    w->grid = grid;
    w->compression = options->compression;
    w->type = options->type;
    w->bytes = bytes[options->type];
    w->L = L;
    w->n_datasets = options->n_datasets;
    int rc = write_head(w, path, options, e);
    if (rc) {
        cov_predictions_writer_abort(w);
        return rc;
    }
    *out = w;
    return COV_OK;
}

/* Stores integers little-endian. Returns how many of the n values (stride n_datasets) fit, in
 * order. */
static inline __attribute__((always_inline)) size_t
put_integers(const float *values, size_t stride, size_t n, size_t bytes, float limit, uint8_t *dst)
{
    for (size_t t = 0; t < n; t++) {
        float v = values[t * stride];
        if (!(v >= -limit && v < limit)) /* NaN too */
            return t;
        uint64_t x = (uint64_t)(int64_t)v;
        for (size_t j = 0; j < bytes; j++)
            dst[t * bytes + j] = (uint8_t)(x >> 8 * j);
    }
    return n;
}

static size_t put_floats(const float *values, size_t stride, size_t n, uint8_t *dst)
{
    for (size_t t = 0; t < n; t++) {
        float v = values[t * stride];
        if (!(v - v == 0.0F)) /* false for NaN and infinity */
            return t;
        uint32_t x;
        memcpy(&x, &v, sizeof x);
        for (size_t j = 0; j < 4; j++)
            dst[t * 4 + j] = (uint8_t)(x >> 8 * j);
    }
    return n;
}

static size_t put_values(enum cov_signal_type type, const float *values, size_t stride, size_t n,
                         uint8_t *dst)
{
    /* -2^(bits-1) <= v < 2^(bits-1): both limits are exact as float. */
    switch (type) {
    case COV_SIGNAL_INT16:
        return put_integers(values, stride, n, 2, 0x1p15F, dst);
    case COV_SIGNAL_INT32:
        return put_integers(values, stride, n, 4, 0x1p31F, dst);
    case COV_SIGNAL_INT64:
        return put_integers(values, stride, n, 8, 0x1p63F, dst);
    case COV_SIGNAL_FLOAT32:
        break;
    }
    return put_floats(values, stride, n, dst);
}

static int fail_value(const struct cov_predictions_writer *w, size_t i, size_t t, float value,
                      struct cov_err *e)
{
    struct cov_chunk c = cov_grid_chunk(w->grid, i);
    int64_t at = c.minus ? c.end - (int64_t)t : c.beg + (int64_t)t + 1;
    return cov_fail(e, COV_EINPUT,
                    "%s:%" PRId64 ", %c strand: the value %g does not fit the type of "
                    "the output (%s)",
                    cov_grid_name(w->grid, c.seq), at, c.minus ? '-' : '+', (double)value,
                    w->type == COV_SIGNAL_FLOAT32 ? "float32"
                    : w->type == COV_SIGNAL_INT16 ? "int16"
                    : w->type == COV_SIGNAL_INT32 ? "int32"
                                                  : "int64");
}

int cov_predictions_writer_encode(const struct cov_predictions_writer *w, size_t i,
                                  const float *values, struct cov_blob *out, struct cov_err *e)
{
    size_t D = w->n_datasets, n_bytes = w->L * w->bytes;
    cov_blob_clear(out);
    for (size_t d = 0; d < D; d++) {
        uint8_t *src, *scratch;
        int rc = cov_h5_pack_begin(w->compression, n_bytes, out, &src, &scratch, e);
        if (rc)
            return rc;
        uint8_t *plain = w->n_filters > 1 ? scratch : src;
        size_t n = put_values(w->type, values + d, D, w->L, plain);
        if (n < w->L)
            return fail_value(w, i, n, values[n * D + d], e);
        if (w->n_filters > 1)
            cov_shuffle(plain, n_bytes, w->bytes, src);
        rc = cov_h5_pack_end(w->compression, w->filters, w->n_filters, n_bytes, out, e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

int cov_predictions_writer_put(struct cov_predictions_writer *w, size_t i,
                               const struct cov_blob *blob, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t d = 0; !rc && d < w->n_datasets; d++) {
        size_t n;
        const uint8_t *piece = cov_blob_piece(blob, d, &n);
        rc = cov_h5_set_put(w->set, (size_t[3]){i, 0, d}, piece, n, e);
    }
    return rc;
}

int cov_predictions_writer_close(struct cov_predictions_writer *w, struct cov_err *e)
{
    cov_h5_set_close(w->set);
    int rc = cov_h5_finish(w->h5, e);
    free(w);
    return rc;
}

void cov_predictions_writer_abort(struct cov_predictions_writer *w)
{
    if (!w)
        return;
    cov_h5_set_close(w->set);
    cov_h5_close(w->h5);
    free(w);
}
