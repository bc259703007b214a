/* edit_tiles.h - convolutions where they reach an edit: a part of the network without LSTMs is run on tiles,
 * short pieces of a chunk, by the kernels that run it on whole chunks.
 *
 * A tile is a few rows of the LSTMs, and in proportion rows of all other layers, as if it were a chunk.
 * At its ends, where taps reach rows outside the tile, its outputs are wrong, unless the tile ends where
 * the chunk ends. So a tile starts some rows before those that are wanted of it. Each row is computed as
 * in a whole chunk, to the same bits.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_EDIT_TILES_H
#define COV_COMPUTE_CUDA_EDIT_TILES_H

#include "common/compute/cuda/cuda_plan.h"

/* How layers [beg, end) are run. */
struct cov_edit_tiles {
    struct cov_cuda_plan plan; /* of a tile */
    size_t beg, end;
    size_t t;          /* rows of the LSTMs in a chunk */
    size_t rows;       /* rows of the LSTMs in a tile */
    size_t in, out;    /* rows of the part's input and of its output per row of the LSTMs */
    size_t head, tail; /* rows of the output at the ends of a tile that are wrong */
};

/* A tile of chunk `chunk`: row `first` of the LSTMs on; rows [beg, end) of the part's output are wanted. */
struct cov_edit_tile {
    size_t chunk, first, beg, end;
};

/* Returns true if the rows of all layers are in proportion, so that tiles can be used. */
bool cov_edit_tiles_fit(const struct cov_cuda_plan *plan, size_t t);
/* Chooses tiles of which about `wanted` rows of the LSTMs are right, at least those that one row of the
 * input reaches. Free with cov_cuda_plan_fini(&out->plan). */
int cov_edit_tiles_init(const struct cov_cuda_plan *plan, struct cov_rows layers, size_t t,
                        size_t wanted, struct cov_edit_tiles *out, struct cov_err *e) COV_MUST_USE;
/* Returns the number of tiles for rows of the part's output, and writes them if `to` is not NULL. */
size_t cov_edit_tiles_cut(const struct cov_edit_tiles *tiles, size_t chunk, struct cov_rows rows,
                          struct cov_edit_tile *to);
/* Returns the most tiles that any part of these rows takes: one that begins elsewhere may take one more. */
static inline size_t cov_edit_tiles_most(const struct cov_edit_tiles *tiles, struct cov_rows rows)
{
    return cov_edit_tiles_cut(tiles, 0, rows, NULL) + 1;
}
/* Returns the rows of the output that rows of the input reach. */
struct cov_rows cov_edit_tiles_reached(const struct cov_cuda_plan *plan, struct cov_rows layers,
                                       struct cov_rows rows);

#endif
