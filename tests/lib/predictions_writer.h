/* predictions_writer.h - for tests: writes a predictions file of a known grid, row by row.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PREDICTIONS_WRITER_H
#define TESTS_PREDICTIONS_WRITER_H

#include <assert.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/chunk/chunk_file.h"
#include "common/chunk/predictions.h"

/* Borrows `grid` until close; encode clears *blob; close always frees. */
struct predictions_writer {
    struct cov_chunk_writer *writer;
    const struct cov_grid *grid;
    struct cov_chunk_head head;
};

static inline int predictions_writer_new(const char *path, const struct cov_grid *grid,
                                         const struct cov_predictions_options *options,
                                         struct predictions_writer **out, struct cov_err *e)
{
    *out = NULL;
    const struct cov_chunk_writer_options how = {.compression = options->compression};
    struct predictions_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    int rc = cov_predictions_head(cov_grid_chunk_length(grid), options, &w->head, e);
    if (!rc)
        rc = cov_chunk_writer_new(path, &w->head, &how, &w->writer, e);
    if (rc) {
        cov_chunk_head_fini(&w->head);
        free(w);
        return rc;
    }
    w->grid = grid;
    *out = w;
    return COV_OK;
}

static inline int predictions_writer_encode(const struct predictions_writer *w, size_t i,
                                            const float *values, struct cov_blob *out,
                                            struct cov_err *e)
{
    assert(w);
    const struct cov_chunk_set *set = &w->head.sets[0];
    struct cov_chunk chunk = cov_grid_chunk(w->grid, i);
    cov_blob_clear(out);
    uint8_t *elems = cov_malloc(cov_chunk_set_row_bytes(set), 1, e);
    if (!elems)
        return COV_ENOMEM;
    int rc = cov_predictions_pack(set, values, cov_grid_name(w->grid, chunk.seq), &chunk, elems, e);
    if (!rc) {
        const uint8_t *const row[1] = {elems};
        const uint8_t *const *const rows[1] = {row};
        rc = cov_chunk_writer_encode(w->writer, 1, NULL, rows, out, e);
    }
    free(elems);
    return rc;
}

static inline int predictions_writer_put(struct predictions_writer *w, size_t i,
                                         const struct cov_blob *blob, struct cov_err *e)
{
    assert(w);
    return cov_chunk_writer_put(w->writer, i, blob, 0, e);
}

static inline int predictions_writer_close(struct predictions_writer *w, struct cov_err *e)
{
    assert(w);
    int rc = cov_chunk_writer_finish(w->writer, w->grid, e);
    cov_chunk_head_fini(&w->head);
    free(w);
    return rc;
}

static inline void predictions_writer_abort(struct predictions_writer *w)
{
    if (!w)
        return;
    cov_chunk_writer_abort(w->writer);
    cov_chunk_head_fini(&w->head);
    free(w);
}

#endif
