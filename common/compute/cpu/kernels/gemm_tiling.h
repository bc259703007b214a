/* gemm_tiling.h - splits a product of floats into tiles; included by kernel files, which define
 * LANES (floats per vector), ROWS (the most rows of a tile) and run_tile.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/gemm.h"

/* The operands of a tile. */
struct operands {
    const float *a; /* rows of the tile, already prepared with k if `ready` */
    size_t lda, k;
    bool ready;
    const float *b; /* k rows of one panel of the matrix, starting at `column` */
    const struct cov_matrix *matrix;
    size_t column;
};

/* c[rows, vectors * LANES] = the product, plus c itself if `add`; rows <= ROWS, one or two
 * vectors. */
static void run_tile(size_t rows, size_t vectors, const struct operands *o, float *c, size_t ldc,
                     bool add);

/* Computes a tile at the right edge, of which only `cols` columns exist. */
static void run_edge(size_t rows, size_t vectors, size_t cols, const struct operands *o, float *c,
                     size_t ldc, bool add)
{
    float whole[ROWS * 2 * LANES];
    size_t width = vectors * LANES;
    run_tile(rows, vectors, o, whole, width, false);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < cols; j++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): run_tile has filled the rows */
            float sum = whole[r * width + j];
            c[r * ldc + j] = add ? sum + c[r * ldc + j] : sum;
        }
}

/* Computes all m rows and all columns of c; `first` holds the operands of the first panel, and
 * panels are `depth` rows apart. A panel stays in the cache while all rows are multiplied with
 * it. */
static void run_rows(size_t m, const struct operands *first, size_t depth, float *c, size_t ldc,
                     bool add)
{
    const struct cov_matrix *b = first->matrix;
    size_t vectors = b->panel / LANES;
    size_t n_tiles = (m + ROWS - 1) / ROWS; /* tiles of nearly equal height */
    size_t height = n_tiles > 1 ? m / n_tiles : m, n_higher = m - height * n_tiles;
    for (size_t j = 0; j < b->n; j += b->panel) {
        size_t cols = b->n - j;
        struct operands o = *first;
        float *to = c + j;
        o.b += j * depth;
        o.column = j;
        for (size_t i = 0; i < n_tiles; i++) {
            size_t rows = height + (i < n_higher);
            if (cols < b->panel)
                run_edge(rows, vectors, cols, &o, to, ldc, add);
            else
                run_tile(rows, vectors, &o, to, ldc, add);
            o.a += rows * o.lda;
            to += rows * ldc;
        }
    }
}
