/* outer_body.h - single-precision kernels of outer.h; included by the file of each instruction set
 * after gemm_body.h, whose macros it uses.
 *
 * COV_OUTER_DEPTH rows of b, two vectors wide, are packed: they stay in the first-level cache while
 * all columns of `a` are multiplied with them. Rows of `a` are read in place.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/outer.h"

enum {
    DEPTH = COV_OUTER_DEPTH,
    WIDTH = 2 * LANES,
    CALL = 8, /* rows of k per call of cov_outer_prefetch in a tile */
};

#define INLINE static inline __attribute__((always_inline))

/* Some rows of k, with a packed panel of b. */
struct panel {
    size_t cols, k; /* cols <= WIDTH */
    const float *a; /* [k, all columns of `a`] */
    size_t lda;
    const float *b; /* [k, WIDTH] */
    float *c;
    size_t ldc;
    struct cov_outer_ahead *ahead;
};

/* c[rows, WIDTH] += products of `rows` columns of `a` with b[k, WIDTH]; rows <= ROWS is a constant
 * when this is inlined, so the sums stay in registers. */
INLINE void outer_tile(const int rows, const struct panel *p, const float *a, float *c, size_t ldc)
{
    const float *b = p->b;
    vec sum0[ROWS] = {{0}}, sum1[ROWS] = {{0}};
    for (size_t i = 1; i <= p->k; i++, a += p->lda, b += WIDTH) {
        if (i % CALL == 0)
            cov_outer_prefetch(p->ahead);
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

#define OUTER_TILE(r)                                                                              \
    case r:                                                                                        \
        outer_tile(r, p, p->a + i, c, ldc);                                                        \
        break;

/* c[rows, WIDTH] += products of columns i .. i+rows-1 of `a`. */
static void run_outer_tile(size_t rows, const struct panel *p, size_t i, float *c, size_t ldc)
{
    switch (rows) {
        COV_TILES(ROWS, OUTER_TILE)
    default:
        break;
    }
}

/* Computes a tile at the right edge, with fewer than WIDTH columns. */
static void run_outer_edge(size_t rows, const struct panel *p, size_t i)
{
    float whole[ROWS * WIDTH] = {0};
    run_outer_tile(rows, p, i, whole, WIDTH);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < p->cols; j++)
            p->c[(i + r) * p->ldc + j] += whole[r * WIDTH + j];
}

/* packed[k, WIDTH] = `cols` columns of b, then zeros. */
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

static void run_panel(size_t m, const struct panel *p)
{
    for (size_t i = 0; i < m; i += ROWS) {
        size_t rows = m - i < ROWS ? m - i : ROWS;
        if (p->cols < WIDTH)
            run_outer_edge(rows, p, i);
        else
            run_outer_tile(rows, p, i, p->c + i * p->ldc, p->ldc);
    }
}

static void add_outer_block(const struct cov_outer_sum *s, struct cov_outer_ahead *ahead)
{
    _Alignas(64) float packed[DEPTH * WIDTH];
    const struct panel p = {.cols = s->n,
                            .k = s->k,
                            .a = s->a,
                            .lda = s->lda,
                            .b = packed,
                            .c = s->c,
                            .ldc = s->ldc,
                            .ahead = ahead};
    pack(s->k, s->n, s->b, s->ldb, packed);
    run_panel(s->m, &p);
}

static void add_outer(const struct cov_outer_sum *s, const struct cov_outer_rows *next)
{
    size_t n_tiles = (s->m + ROWS - 1) / ROWS * ((s->n + WIDTH - 1) / WIDTH);
    cov_outer_add_blocks(s, next, WIDTH, n_tiles, CALL, add_outer_block);
}

const struct cov_outer JOIN(cov_outer_, GEMM_LEVEL) = {GEMM_NAME, GEMM_NEEDS, add_outer, COV_FP32};
