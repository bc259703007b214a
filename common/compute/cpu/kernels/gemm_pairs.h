/* gemm_pairs.h - products of pairs of bf16, without the innermost loops. The kernel files for bf16
 * include it. They define PAIRS_ROWS, the rows processed at once, before the inclusion, and
 * multiply_panels after it.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/bf16.h"
#include "common/compute/cpu/kernels/gemm.h"

enum {
    PAIRS_DEPTH = 1152, /* elements of k at once: nine taps of 128 channels */
    PAIRS_GAP = 32,     /* gap after a row, so that rows do not start in the same set of the
                         * cache */
    PAIRS_PANEL = 32,   /* columns of a wide panel */
    PAIRS_LANES = 16,   /* columns of a narrow panel */
    PAIRS_ROOM = PAIRS_ROWS * (PAIRS_DEPTH + PAIRS_GAP),
};

/* The arguments of struct cov_gemm's run: c[m,n] = a B, plus c itself if `add`. */
struct product {
    size_t m;
    const float *a;
    size_t lda;
    const struct cov_matrix *b;
    float *c;
    size_t ldc;
    bool add;
};

/* Rows of `a` in bf16, and some rows of B. */
struct pairs {
    bool split;                 /* in two terms */
    const uint16_t *high, *low; /* [rows, k], row stride `stride` */
    size_t stride, rows;
    size_t k;       /* a multiple of k_unit */
    size_t panel;   /* columns of a panel of B */
    size_t b_panel; /* distance from one panel to the next, in uint16_t */
    const uint16_t *b;
};

/* Sets c[rows, n_panels * panel] (row stride ldc) to the product with panels of B, plus c itself if
 * `add`. For each k_unit of k, sums are in this order: low * high, then high * high, then
 * high * low. */
static void multiply_panels(const struct pairs *p, size_t n_panels, float *c, size_t ldc, bool add);

/* Computes the terms of 32 floats. A kernel file may define it. */
#ifndef ROUND_32
#define ROUND_32(split, x, high, low) round_floats(split, 32, x, high, low)
#endif

static inline void round_floats(bool split, size_t n, const float *restrict x,
                                uint16_t *restrict high, uint16_t *restrict low)
{
    for (size_t i = 0; i < n; i++)
        high[i] = cov_bf16_bits(x[i]);
    for (size_t i = 0; split && i < n; i++)
        low[i] = cov_bf16_bits(cov_bf16_low(x[i]));
}

/* Computes the terms of x[n]. */
static inline void round_row(bool split, size_t n, const float *restrict x, uint16_t *restrict high,
                             uint16_t *restrict low)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        ROUND_32(split, x + i, high + i, low + i);
    round_floats(split, n - i, x + i, high + i, low + i);
}

/* Rounds `k` columns of rows of `a`, with zeros up to p->k. Values that overlapping rows share are
 * rounded once. */
static void round_rows(size_t k, const float *a, size_t lda, struct pairs *p, uint16_t *high,
                       uint16_t *low)
{
    if (lda < k && k == p->k && (p->rows - 1) * lda + k <= PAIRS_ROOM) {
        p->stride = lda;
        round_row(p->split, (p->rows - 1) * lda + k, a, high, low);
        return;
    }
    p->stride = p->k + PAIRS_GAP;
    for (size_t r = 0; r < p->rows; r++) {
        uint16_t *to = high + r * p->stride, *to_low = low + r * p->stride;
        round_row(p->split, k, a + r * lda, to, to_low);
        memset(to + k, 0, (p->k - k) * sizeof *to);
        if (p->split)
            memset(to_low + k, 0, (p->k - k) * sizeof *to_low);
    }
}

/* Computes the last columns, which do not fill a panel. */
static void multiply_edge(const struct pairs *p, size_t cols, float *c, size_t ldc, bool add)
{
    float whole[PAIRS_ROWS * PAIRS_PANEL] = {0};
    for (size_t r = 0; add && r < p->rows; r++)
        memcpy(whole + r * p->panel, c + r * ldc, cols * sizeof *c);
    multiply_panels(p, 1, whole, p->panel, add);
    for (size_t r = 0; r < p->rows; r++)
        memcpy(c + r * ldc, whole + r * p->panel, cols * sizeof *c);
}

static void run_pairs(bool split, size_t k_unit, const struct product *of)
{
    _Alignas(64) uint16_t high[PAIRS_ROOM], low[PAIRS_ROOM];
    const struct cov_matrix *b = of->b;
    size_t depth = (b->k + k_unit - 1) / k_unit * k_unit, n_whole = b->n / b->panel;
    size_t row = b->panel * (split ? 2 : 1); /* size of half a pair of rows of B */
    size_t n_parts = depth > PAIRS_DEPTH ? (depth + PAIRS_DEPTH - 1) / PAIRS_DEPTH : 1;
    size_t part = (depth / k_unit + n_parts - 1) / n_parts * k_unit;
    struct pairs p = {
        .split = split, .high = high, .low = low, .panel = b->panel, .b_panel = depth * row};
    for (size_t r0 = 0; r0 < of->m; r0 += PAIRS_ROWS) {
        float *to = of->c + r0 * of->ldc;
        p.rows = of->m - r0 < PAIRS_ROWS ? of->m - r0 : PAIRS_ROWS;
        for (size_t k0 = 0; k0 == 0 || k0 < b->k; k0 += part) {
            size_t k = b->k - k0 < part ? b->k - k0 : part, j = n_whole * b->panel;
            bool add = of->add || k0 > 0;
            p.k = (k + k_unit - 1) / k_unit * k_unit;
            p.b = b->pairs + k0 * row;
            round_rows(k, of->a + r0 * of->lda + k0, of->lda, &p, high, low);
            if (n_whole > 0)
                multiply_panels(&p, n_whole, to, of->ldc, add);
            p.b += n_whole * p.b_panel;
            if (j < b->n)
                multiply_edge(&p, b->n - j, to + j, of->ldc, add);
        }
    }
}
