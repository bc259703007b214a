/* outer_amx_body.h - sums of outer products (outer.h) on tiles; included after gemm_amx_body.h,
 * whose loop over tiles it uses. Two rows of `b` are a row of a panel; a column of `a` is a row of
 * the left side, so pairs of rows of `a` are transposed.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/outer.h"

enum {
    SUM_ROWS = 64,     /* columns of `a` at once */
    SUM_COLUMNS = 256, /* columns of `b` at once */
    SUM_STRIDE = COV_OUTER_DEPTH + PAIRS_GAP,
};

/* Sets to[j] to the pair x[j], y[j], for 32 columns. A kernel file may define it. */
#ifndef JOIN_32
#define JOIN_32 join_32
static inline void join_32(const float *x, const float *y, uint32_t *to)
{
    for (size_t j = 0; j < PAIRS_PANEL; j++)
        to[j] = cov_bf16_bits(x[j]) | (uint32_t)cov_bf16_bits(y[j]) << 16;
}

/* Sets to[j][i] (row stride to_stride) to from[i][j] (row stride PAIRS_PANEL), for i, j < 16. */
#define TRANSPOSE_16 transpose_16
static inline void transpose_16(const uint32_t *from, uint32_t *to, size_t to_stride)
{
    for (size_t i = 0; i < TILE; i++)
        for (size_t j = 0; j < TILE; j++)
            to[j * to_stride + i] = from[i * PAIRS_PANEL + j];
}
#endif

/* Joins TILE pairs of rows of x[k, cols], cols <= PAIRS_PANEL, with zeros past its ends. */
static void join_rows(size_t k, size_t cols, const float *x, size_t ldx, uint32_t *to)
{
    static const float zeros[PAIRS_PANEL];
    float part[2][PAIRS_PANEL] = {{0}};
    for (size_t i = 0; i < TILE_UNIT; i += 2, to += PAIRS_PANEL) {
        const float *row[2] = {zeros, zeros};
        for (size_t j = 0; j < 2 && i + j < k; j++)
            row[j] = cols == PAIRS_PANEL ? x + (i + j) * ldx
                                         : memcpy(part[j], x + (i + j) * ldx, cols * sizeof *x);
        JOIN_32(row[0], row[1], to);
    }
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

/* Sets left[m][SUM_STRIDE] to the columns of a[k, m], and a multiple of 32 rows to zeros. */
static void pack_columns(const struct cov_outer_sum *s, uint16_t *left)
{
    _Alignas(64) uint32_t pairs[TILE * PAIRS_PANEL];
    for (size_t i = 0; i < s->m; i += PAIRS_PANEL)
        for (size_t k = 0; k < s->k; k += TILE_UNIT) {
            join_rows(s->k - k, at_most(s->m - i, PAIRS_PANEL), s->a + k * s->lda + i, s->lda,
                      pairs);
            uint32_t *to = (uint32_t *)(void *)(left + i * SUM_STRIDE + k);
            TRANSPOSE_16(pairs, to, SUM_STRIDE / 2);
            TRANSPOSE_16(pairs + TILE, to + TILE * SUM_STRIDE / 2, SUM_STRIDE / 2);
        }
}

INLINE void prefetch_between(void *ahead)
{
    cov_outer_prefetch(ahead);
}

/* Adds a product of 32 rows of the left side and a panel to c[rows, cols]. */
static void add_square(const struct pairs *p, size_t cols, float *c, size_t ldc,
                       struct cov_outer_ahead *ahead)
{
    const struct other_work work = {prefetch_between, ahead};
    if (p->rows == PAIRS_ROWS && cols == PAIRS_PANEL) {
        multiply_square(false, true, true, p, p->b, c, ldc, true, work);
        return;
    }
    _Alignas(64) float whole[PAIRS_ROWS * PAIRS_PANEL] = {0};
    for (size_t r = 0; r < p->rows; r++)
        memcpy(whole + r * PAIRS_PANEL, c + r * ldc, cols * sizeof *c);
    multiply_square(false, true, true, p, p->b, whole, PAIRS_PANEL, true, work);
    for (size_t r = 0; r < p->rows; r++)
        memcpy(c + r * ldc, whole + r * PAIRS_PANEL, cols * sizeof *c);
}

/* Adds the sum over s->k <= COV_OUTER_DEPTH rows, for s->n <= SUM_COLUMNS columns of b. */
static void sum_block(const struct cov_outer_sum *s, struct cov_outer_ahead *ahead)
{
    _Alignas(64) uint16_t left[SUM_ROWS * SUM_STRIDE];
    _Alignas(64) uint32_t right[COV_OUTER_DEPTH / 2 * SUM_COLUMNS];
    size_t depth = (s->k + TILE_UNIT - 1) / TILE_UNIT * TILE_UNIT;
    uint32_t *to = right;
    for (size_t j = 0; j < s->n; j += PAIRS_PANEL)
        for (size_t k = 0; k < s->k; k += TILE_UNIT, to += TILE * PAIRS_PANEL)
            join_rows(s->k - k, at_most(s->n - j, PAIRS_PANEL), s->b + k * s->ldb + j, s->ldb, to);
    for (size_t i = 0; i < s->m; i += SUM_ROWS) {
        struct cov_outer_sum slice = *s;
        slice.m = at_most(s->m - i, SUM_ROWS);
        slice.a += i;
        pack_columns(&slice, left);
        for (size_t j = 0; j < s->n; j += PAIRS_PANEL)
            for (size_t r = 0; r < slice.m; r += PAIRS_ROWS) {
                const struct pairs p = {.high = left + r * SUM_STRIDE,
                                        .stride = SUM_STRIDE,
                                        .rows = at_most(slice.m - r, PAIRS_ROWS),
                                        .k = depth,
                                        .panel = PAIRS_PANEL,
                                        .b = (const uint16_t *)right + j * depth};
                add_square(&p, at_most(s->n - j, PAIRS_PANEL), s->c + (i + r) * s->ldc + j, s->ldc,
                           ahead);
            }
    }
}

static void amx_outer(const struct cov_outer_sum *s, const struct cov_outer_rows *next)
{
    size_t n_squares =
        (s->m + PAIRS_ROWS - 1) / PAIRS_ROWS * ((s->n + PAIRS_PANEL - 1) / PAIRS_PANEL);
    configure(PAIRS_ROWS, false);
    cov_outer_add_blocks(s, next, SUM_COLUMNS, n_squares, TILE_UNIT, sum_block);
    TILE_RELEASE();
}
