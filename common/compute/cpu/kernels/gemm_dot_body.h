/* gemm_dot_body.h - products by an instruction that multiplies pairs of bf16 and adds both products
 * to a float; included by gemm_avx512bf16.c, and by its test with C in place of the instruction.
 * Both define DOT(sums, a, b) on vectors of 16.
 * SPDX-License-Identifier: MIT */
#define PAIRS_ROWS 24
#include "common/compute/cpu/kernels/gemm_pairs.h"
#include "common/compute/cpu/kernels/tiles.h"

enum { DOT_LANES = 16, DOT_ROWS = 12, DOT_UNIT = 2 };

typedef float floats __attribute__((vector_size(DOT_LANES * 4), aligned(4), may_alias));
typedef int32_t bf16s __attribute__((vector_size(DOT_LANES * 4), aligned(4), may_alias));

/* Returns the pair at x. */
static inline int32_t pair(const uint16_t *x)
{
    int32_t v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* Multiplies with one panel. rows <= DOT_ROWS and vectors are constants when this is inlined, so
 * the sums stay in registers. */
static inline __attribute__((always_inline)) void dot_tile(const int rows, const int vectors,
                                                           const struct pairs *p, size_t row,
                                                           const uint16_t *b, float *c, size_t ldc,
                                                           bool add)
{
    floats sum0[DOT_ROWS] = {{0}}, sum1[DOT_ROWS] = {{0}};
    for (int r = 0; add && r < rows; r++) {
        const floats *from = (const floats *)(c + (size_t)r * ldc);
        sum0[r] = from[0];
        sum1[r] = from[vectors - 1];
    }
    for (size_t i = 0; i < p->k; i += 2, b += (size_t)vectors * DOT_LANES * 2) {
        const bf16s *right = (const bf16s *)b;
        bf16s right0 = right[0], right1 = right[vectors - 1];
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            bf16s left = (bf16s){0} + pair(p->high + (row + (size_t)r) * p->stride + i);
            sum0[r] = DOT(sum0[r], left, right0);
            if (vectors == 2)
                sum1[r] = DOT(sum1[r], left, right1);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        floats *to = (floats *)(c + (size_t)r * ldc);
        to[0] = sum0[r];
        if (vectors == 2)
            to[1] = sum1[r];
    }
}

#define DOT_CASE(r)                                                                                \
    case r:                                                                                        \
        if (p->panel > DOT_LANES)                                                                  \
            dot_tile(r, 2, p, row, b, to, ldc, add);                                               \
        else                                                                                       \
            dot_tile(r, 1, p, row, b, to, ldc, add);                                               \
        break;

static void multiply_panels(const struct pairs *p, size_t n_panels, float *c, size_t ldc, bool add)
{
    for (size_t j = 0; j < n_panels; j++) {
        const uint16_t *b = p->b + j * p->b_panel;
        for (size_t row = 0, n_left = (p->rows + DOT_ROWS - 1) / DOT_ROWS; n_left > 0; n_left--) {
            size_t rows = (p->rows - row) / n_left; /* tiles of nearly equal height */
            float *to = c + row * ldc + j * p->panel;
            switch (rows) {
                COV_TILES_12(DOT_CASE)
            default:
                break;
            }
            row += rows;
        }
    }
}

static void dot_bf16(size_t m, const float *a, size_t lda, const struct cov_matrix *b, float *c,
                     size_t ldc, bool add)
{
    run_pairs(false, DOT_UNIT, &(struct product){m, a, lda, b, c, ldc, add});
}
