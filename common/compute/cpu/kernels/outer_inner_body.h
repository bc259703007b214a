/* outer_inner_body.h - sums of outer products in single precision by Winograd's inner product;
 * included after gemm_inner_body.h, whose tiles it uses.
 *
 * Each block of COV_OUTER_DEPTH rows of k is packed: columns of both operands are scaled by powers
 * of two, and the products of their own elements are summed. A packed column of `a` takes the place
 * of a row of `a` in gemm_inner_body.h. Columns that do not exist are not packed; their sums are
 * computed, but not written. The including file defines OUTER_TABLE.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/outer.h"

enum {
    DEPTH = COV_OUTER_DEPTH,
    WIDTH = 2 * LANES,
    SLICE = 8 * ROWS,    /* columns of `a` at once */
    COLUMNS = 8 * WIDTH, /* columns of b at once */
};

/* Columns of an operand: groups of `apart` of them, each [k, apart]. */
struct packed_columns {
    float *data, *sums, *units; /* of every column: the sum of its own products, and its unit */
    size_t apart;
};

/* Packs n <= LANES columns, the first of which goes to `column` of `to`. */
static void pack_lanes(size_t k, size_t n, const float *from, size_t stride,
                       const struct packed_columns *to, size_t column)
{
    __mmask16 which = first_of(n);
    __m512 squares = _mm512_setzero_ps(), pairs = squares, before = squares;
    float *data = to->data + column / to->apart * to->apart * k + column % to->apart;
    for (size_t i = 0; i < k; i++) {
        __m512 v = _mm512_maskz_loadu_ps(which, from + i * stride);
        squares = _mm512_fmadd_ps(v, v, squares);
        _mm512_mask_storeu_ps(data + i * to->apart, which, v);
        if (i % 3 == 2 && i < k / SIX * SIX)
            pairs = i % 2 ? _mm512_fmadd_ps(before, v, pairs) : _mm512_fnmadd_ps(before, v, pairs);
        before = v;
    }
    __m512i exponents = exponents_of(squares * _mm512_set1_ps(1 / (float)k));
    __m512 scale = powers_of_two(_mm512_sub_epi32(_mm512_setzero_si512(), exponents));
    _mm512_mask_storeu_ps(to->sums + column, which, pairs * scale * scale);
    _mm512_mask_storeu_ps(to->units + column, which, powers_of_two(exponents));
    for (size_t i = 0; i < k; i++) {
        float *at = data + i * to->apart;
        _mm512_mask_storeu_ps(at, which, scale * _mm512_maskz_loadu_ps(which, at));
    }
}

/* Packs n columns of x. */
static void pack_columns(size_t k, size_t n, const float *x, size_t stride,
                         const struct packed_columns *to)
{
    for (size_t j = 0; j < n; j += LANES)
        pack_lanes(k, n - j < LANES ? n - j : LANES, x + j, stride, to, j);
}

/* The operands of a tile: columns of packed `a`, and a panel of packed b. */
struct outer_operands {
    size_t k;
    const float *a, *a_sums, *a_units;
    const float *b, *b_sums, *b_units;
    struct cov_outer_ahead *ahead;
};

/* c[rows, WIDTH] += the products; rows is a constant. */
INLINE void outer_tile(const int rows, const struct outer_operands *o, float *c, size_t ldc)
{
    __m512 sum0[ROWS], sum1[ROWS];
    __m512 columns0 = _mm512_load_ps(o->b_sums), columns1 = _mm512_load_ps(o->b_sums + LANES);
    struct rows a = rows_at(rows, o->a, 1);
    const float *b = o->b;
    size_t k = o->k;
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        __m512 row = _mm512_set1_ps(o->a_sums[r]);
        sum0[r] = row + columns0;
        sum1[r] = row + columns1;
    }
    for (; k >= SIX; k -= SIX, b += SIX * WIDTH) {
        cov_outer_prefetch(o->ahead);
        multiply_three(rows, 2, false, &a, SLICE, 0, b, sum0, sum1);
        multiply_three(rows, 2, true, &a, SLICE, 3, b + 3 * WIDTH, sum0, sum1);
        step(&a, rows, SIX * SLICE);
    }
    for (; k > 0; k--, b += WIDTH) {
        multiply_one(rows, 2, &a, b, sum0, sum1);
        step(&a, rows, SLICE);
    }
    __m512 unit0 = _mm512_load_ps(o->b_units), unit1 = _mm512_load_ps(o->b_units + LANES);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++, c += ldc) {
        __m512 unit = _mm512_set1_ps(o->a_units[r]);
        _mm512_storeu_ps(c, _mm512_fmadd_ps(sum0[r], unit * unit0, _mm512_loadu_ps(c)));
        _mm512_storeu_ps(c + LANES,
                         _mm512_fmadd_ps(sum1[r], unit * unit1, _mm512_loadu_ps(c + LANES)));
    }
}

#define OUTER_TILE(r)                                                                              \
    case r:                                                                                        \
        outer_tile(r, o, c, ldc);                                                                  \
        break;

static void run_outer_tile(size_t rows, const struct outer_operands *o, float *c, size_t ldc)
{
    switch (rows) {
        COV_TILES_12(OUTER_TILE)
    default:
        break;
    }
}

static void run_outer_edge(size_t rows, size_t cols, const struct outer_operands *o, float *c,
                           size_t ldc)
{
    float whole[ROWS * WIDTH] = {0};
    for (size_t r = 0; r < rows; r++)
        memcpy(whole + r * WIDTH, c + r * ldc, cols * sizeof *c);
    run_outer_tile(rows, o, whole, WIDTH);
    for (size_t r = 0; r < rows; r++)
        memcpy(c + r * ldc, whole + r * WIDTH, cols * sizeof *c);
}

/* Adds the sum over s->k <= DEPTH rows, for s->n <= COLUMNS columns of b. */
static void add_outer_block(const struct cov_outer_sum *s, struct cov_outer_ahead *ahead)
{
    _Alignas(64) float left[DEPTH * SLICE], left_sums[SLICE], left_units[SLICE];
    _Alignas(64) float right[DEPTH * COLUMNS], right_sums[COLUMNS], right_units[COLUMNS];
    const struct packed_columns a = {left, left_sums, left_units, SLICE};
    const struct packed_columns b = {right, right_sums, right_units, WIDTH};
    pack_columns(s->k, s->n, s->b, s->ldb, &b);
    for (size_t i = 0; i < s->m; i += SLICE) {
        size_t slice = s->m - i < SLICE ? s->m - i : SLICE;
        pack_columns(s->k, slice, s->a + i, s->lda, &a);
        for (size_t j = 0; j < s->n; j += WIDTH)
            for (size_t r = 0; r < slice; r += ROWS) {
                size_t rows = slice - r < ROWS ? slice - r : ROWS;
                const struct outer_operands o = {s->k,
                                                 left + r,
                                                 left_sums + r,
                                                 left_units + r,
                                                 right + j * s->k,
                                                 right_sums + j,
                                                 right_units + j,
                                                 ahead};
                float *to = s->c + (i + r) * s->ldc + j;
                if (s->n - j < WIDTH)
                    run_outer_edge(rows, s->n - j, &o, to, s->ldc);
                else
                    run_outer_tile(rows, &o, to, s->ldc);
            }
    }
}

static void add_outer(const struct cov_outer_sum *s, const struct cov_outer_rows *next)
{
    size_t n_tiles = (s->m + ROWS - 1) / ROWS * ((s->n + WIDTH - 1) / WIDTH);
    cov_outer_add_blocks(s, next, COLUMNS, n_tiles, SIX, add_outer_block);
}

const struct cov_outer OUTER_TABLE = {INNER_NAME, INNER_NEEDS, add_outer, COV_FP32};
