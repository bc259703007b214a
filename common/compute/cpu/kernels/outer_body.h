/* outer_body.h - the kernels of outer.h on floats; included by the file of each instruction set,
 * which defines OUTER_LEVEL (the end of its tables' names), OUTER_NAME, OUTER_NEEDS, LANES and ROWS
 * as gemm_body.h has them.
 *
 * Rows of b are packed, as many as COV_OUTER_DEPTH and two vectors wide: they stay in the
 * first-level cache while all columns of a pass over them. Those of a are read where they are.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/outer.h"
#include "common/compute/cpu/kernels/outer_ahead.h"
#include "common/compute/cpu/kernels/tiles.h"

enum { DEPTH = COV_OUTER_DEPTH, WIDTH = 2 * LANES };

typedef float vec __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

#ifndef MULTIPLY
#define MULTIPLY(sum, left, right) ((sum) += (left) * (right))
#define EVERY_LANE(p) (*(p))
typedef float lanes;
#endif

#define INLINE static inline __attribute__((always_inline))

/* c[rows, WIDTH] += the products of `rows` columns of a with b[k, WIDTH]; rows <= ROWS is a constant
 * where this is inlined, so that the sums are registers. */
INLINE void tile(const int rows, size_t k, const float *a, size_t lda, const float *b, float *c,
                 size_t ldc)
{
    vec sum0[ROWS] = {{0}}, sum1[ROWS] = {{0}};
    for (size_t i = 0; i < k; i++, a += lda, b += WIDTH) {
        const vec *right = (const vec *)b;
        vec right0 = right[0], right1 = right[1];
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
#ifdef MULTIPLY_FLOAT
            if (r % 4 == 0) {
                MULTIPLY_FLOAT(sum0[r], a[r], right0);
                MULTIPLY_FLOAT(sum1[r], a[r], right1);
                continue;
            }
#endif
            lanes left = EVERY_LANE(a + r);
            MULTIPLY(sum0[r], left, right0);
            MULTIPLY(sum1[r], left, right1);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        vec *to = (vec *)(c + (size_t)r * ldc);
        to[0] += sum0[r];
        to[1] += sum1[r];
    }
}

#define TILE(r)                                                                                    \
    case r:                                                                                        \
        tile(r, k, a, lda, b, c, ldc);                                                             \
        break;

static void run_tile(size_t rows, size_t k, const float *a, size_t lda, const float *b, float *c,
                     size_t ldc)
{
    switch (rows) {
        COV_TILES(ROWS, TILE)
    default:
        break;
    }
}

/* A tile at the right edge: `cols` of its columns are there. */
static void run_edge(size_t rows, size_t cols, size_t k, const float *a, size_t lda, const float *b,
                     float *c, size_t ldc)
{
    float whole[ROWS * WIDTH] = {0};
    run_tile(rows, k, a, lda, b, whole, WIDTH);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < cols; j++)
            c[r * ldc + j] += whole[r * WIDTH + j];
}

/* packed[k, WIDTH] = `cols` columns of b, and zeros. */
INLINE void pack(size_t k, size_t cols, const float *b, size_t ldb, float *packed)
{
    for (size_t i = 0; i < k; i++, b += ldb, packed += WIDTH) {
        if (cols == WIDTH)
            memcpy(packed, b, WIDTH * sizeof *b);
        else
            memcpy(packed, b, cols * sizeof *b);
        for (size_t j = cols; j < WIDTH; j++)
            packed[j] = 0;
    }
}

static size_t tiles_of(size_t m, size_t n)
{
    return (m + ROWS - 1) / ROWS * ((n + WIDTH - 1) / WIDTH);
}

/* All columns of a of one block of rows with one panel. */
static void run_panel(size_t m, size_t cols, size_t k, const float *a, size_t lda, const float *b,
                      float *c, size_t ldc, struct cov_outer_ahead *ahead)
{
    for (size_t i = 0; i < m; i += ROWS) {
        size_t rows = m - i < ROWS ? m - i : ROWS;
        cov_outer_call(ahead);
        if (cols < WIDTH)
            run_edge(rows, cols, k, a + i, lda, b, c + i * ldc, ldc);
        else
            run_tile(rows, k, a + i, lda, b, c + i * ldc, ldc);
    }
}

static void add(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b,
                size_t ldb, float *c, size_t ldc, const struct cov_outer_rows *next)
{
    _Alignas(64) float packed[DEPTH * WIDTH];
    for (size_t r = 0; r < k; r += DEPTH) {
        size_t rows = k - r < DEPTH ? k - r : DEPTH;
        struct cov_outer_ahead ahead =
            cov_outer_ahead_of(m, n, k, r, rows, a, lda, b, ldb, next, tiles_of(m, n));
        for (size_t j = 0; j < n; j += WIDTH) {
            size_t cols = n - j < WIDTH ? n - j : WIDTH;
            pack(rows, cols, b + r * ldb + j, ldb, packed);
            run_panel(m, cols, rows, a + r * lda, lda, packed, c + j, ldc, &ahead);
        }
    }
}

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
const struct cov_outer JOIN(cov_outer_, OUTER_LEVEL) = {OUTER_NAME, OUTER_NEEDS, add, COV_FP32};
