/* predictions_writer.h - for tests: writes a predictions file of a known grid, row by row.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PREDICTIONS_WRITER_H
#define TESTS_PREDICTIONS_WRITER_H

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/chunk/predictions.h"
#include "tests/lib/genome_io.h"

/* Borrows `grid` until close or abort. */
struct predictions_writer {
    struct cov_chunk_writer *writer;
    const struct cov_grid *grid;
    struct cov_chunk_head head;
};

static inline int predictions_open(struct predictions_writer *w, const char *path,
                                   const struct cov_grid *grid,
                                   const struct cov_predictions_options *options, struct cov_err *e)
{
    const struct cov_chunk_writer_options how = {.compression = options->compression};
    *w = (struct predictions_writer){.grid = grid};
    int rc = cov_predictions_head(cov_grid_chunk_length(grid), options, &w->head, e);
    return rc ? rc : cov_chunk_writer_new(path, &w->head, &how, &w->writer, e);
}

static inline int predictions_put(struct predictions_writer *w, size_t i, const float *values,
                                  struct cov_err *e)
{
    const struct cov_chunk_set *set = &w->head.sets[0];
    struct cov_chunk chunk = cov_grid_chunk(w->grid, i);
    uint8_t *elems = cov_malloc(cov_chunk_set_row_bytes(set), 1, e);
    const uint8_t *const sets[] = {elems};
    if (!elems)
        return COV_ENOMEM;
    int rc = cov_predictions_pack(set, values, cov_grid_name(w->grid, chunk.seq), &chunk, elems, e);
    if (!rc)
        rc = put_row(w->writer, i, NULL, sets, e);
    free(elems);
    return rc;
}

static inline int predictions_close(struct predictions_writer *w, struct cov_err *e)
{
    cov_chunk_head_fini(&w->head);
    return cov_chunk_writer_finish(w->writer, w->grid, e);
}

static inline void predictions_abort(struct predictions_writer *w)
{
    cov_chunk_head_fini(&w->head);
    cov_chunk_writer_abort(w->writer);
}

#endif
