/* gemm_int16_body.h - products of whole numbers of 16 bits (int16.h) by instructions that multiply
 * pairs of them and add both to one of 32 bits; included by gemm_avx512vnni.c, and by its test,
 * which puts C in the place of the instruction. They define DOT(sums, a, b) on vectors of 16, in
 * place and modulo 2^32, and EVERY_PAIR(p), the pair at p in all lanes.
 *
 * Of Zen 4's four units for vectors two do DOT, and all of them add: two pairs of k in one DOT and
 * two additions (int16.h) take three quarters of the time of two DOT.
 *
 * A row that is ready for products is its k numbers, zeros up to a cache line, and lines that begin
 * with its unit; there follow its cross terms, negative: of each COV_INT16_CROSS of k those from the
 * beginning of a part of COV_INT16_DEPTH on.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/gemm_pack.h"
#include "common/compute/cpu/kernels/int16.h"
#include "common/compute/cpu/kernels/tiles.h"

enum {
    WHOLE_LANES = 16,
    WHOLE_PANEL = 32,
    WHOLE_ROWS = 12, /* of a tile */
    WHOLE_UNIT = 2,
    WHOLE_LINE = 16, /* floats of a cache line */
    WHOLE_UNROLL = 4,
    WHOLE_AHEAD = 16,       /* pairs of rows of b */
    WHOLE_DEPTH = 8192,     /* of k made ready at once, */
    WHOLE_ROOM = 24 * 1024, /* and floats of rows of it */
};

typedef float floats __attribute__((vector_size(WHOLE_LANES * 4), aligned(4), may_alias));
typedef int32_t wholes __attribute__((vector_size(WHOLE_LANES * 4), aligned(4), may_alias));
typedef uint16_t halves __attribute__((vector_size(WHOLE_LANES * 4), aligned(4), may_alias));
/* Additions that may leave the type are those of unsigned numbers, which wrap. */
typedef uint32_t words __attribute__((vector_size(WHOLE_LANES * 4), aligned(4), may_alias));
typedef uint64_t fours __attribute__((vector_size(WHOLE_LANES * 4), aligned(4), may_alias));

static size_t whole_lines(size_t n)
{
    return (n + WHOLE_LINE - 1) / WHOLE_LINE * WHOLE_LINE;
}

/* Floats that the numbers of a row take. */
static size_t row_floats(size_t k)
{
    return whole_lines(k / 2 + k % 2);
}

static size_t ready_floats(size_t k)
{
    return row_floats(k) + whole_lines(1 + (k + k % 2) / COV_INT16_CROSS);
}

static float largest_of(size_t k, const float *a)
{
    int32_t most = 0; /* as bits, which order as the numbers do; NaN is above all */
    for (size_t i = 0; i < k; i++) {
        int32_t bits;
        memcpy(&bits, &a[i], sizeof bits);
        bits &= INT32_MAX;
        most = bits > most ? bits : most;
    }
    float largest;
    memcpy(&largest, &most, sizeof largest);
    return largest;
}

static void round_whole(size_t k, const float *restrict a, float inverse, int16_t *restrict to)
{
    for (size_t i = 0; i < k; i++)
        to[i] = cov_int16_of(a[i], inverse);
}

/* cross[k / COV_INT16_CROSS] of a row; k is even. */
static void sum_row_cross(size_t k, const int16_t *row, int32_t *cross)
{
    const fours *v = (const fours *)(const void *)row;
    wholes sum = {0};
    for (size_t i = 0; i + COV_INT16_CROSS <= k; i += COV_INT16_CROSS) {
        if (i % COV_INT16_DEPTH == 0)
            sum = (wholes){0};
        for (int j = 0; j < 2; j++, v++) /* two pairs are a number of 64 bits */
            DOT(sum, (wholes)(*v & UINT32_MAX), (wholes)(*v >> 32));
        uint64_t total = 0;
        for (int j = 0; j < WHOLE_LANES / 2; j++)
            total += ((fours)sum)[j];
        *cross++ = (int32_t) - (uint32_t)total;
    }
}

static void make_ready(size_t m, size_t k, const float *a, size_t lda, float *ready)
{
    size_t n = row_floats(k), stride = ready_floats(k);
    for (size_t r = 0; r < m; r++, ready += stride) {
        const float *from = a + r * lda;
        float inverse;
        ready[n] = cov_int16_row_unit(largest_of(k, from), &inverse);
        int16_t *to = (int16_t *)(void *)ready;
        round_whole(k, from, inverse, to);
        if (k < 2 * n)
            memset(to + k, 0, (2 * n - k) * sizeof *to);
        sum_row_cross(k + k % 2, to, (int32_t *)(void *)(ready + n + 1));
    }
}

/* A part of a product: rows of a that are ready, from some pair on, and a panel's rows. */
struct whole_part {
    const float *a, *units; /* of row 0 */
    const int32_t *cross;   /* of row 0, if pairs are crossed */
    size_t stride;          /* from a row to the next */
    size_t pairs, crossed;  /* crossed: the first ones of them, whole units of COV_INT16_CROSS */
    const int16_t *b;
    const float *b_units;
    const int32_t *b_cross;
};

/* One pair of rows of b; row[j] is as in gemm_body.h. */
static inline __attribute__((always_inline)) void whole_row(const int rows, const int vectors,
                                                            const float *const *row, size_t stride,
                                                            const wholes *right, wholes *sum0,
                                                            wholes *sum1)
{
    wholes right0 = right[0], right1 = right[vectors - 1];
    __builtin_prefetch((const char *)(right + WHOLE_AHEAD * vectors));
    if (vectors == 2)
        __builtin_prefetch((const char *)(right + WHOLE_AHEAD * vectors) + 64);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        const float *p = row[r / 4 * 2 + r % 2] + (r % 4 < 2 ? 0 : 2 * stride);
        wholes left = EVERY_PAIR(p);
        DOT(sum0[r], left, right0);
        if (vectors == 2)
            DOT(sum1[r], left, right1);
    }
}

/* Two pairs of rows of b, crossed. */
static inline __attribute__((always_inline)) void crossed_rows(const int rows, const int vectors,
                                                               const float *const *row,
                                                               size_t stride, const wholes *right,
                                                               wholes *sum0, wholes *sum1)
{
    halves first0 = (halves)right[0], first1 = (halves)right[vectors - 1];
    halves second0 = (halves)right[vectors], second1 = (halves)right[2 * vectors - 1];
#pragma GCC unroll 4
    for (int i = 0; i < 2 * vectors; i++)
        __builtin_prefetch((const char *)(right + WHOLE_AHEAD * vectors + i));
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        const float *p = row[r / 4 * 2 + r % 2] + (r % 4 < 2 ? 0 : 2 * stride);
        halves first = (halves)EVERY_PAIR(p), second = (halves)EVERY_PAIR(p + 1);
        DOT(sum0[r], (wholes)(first + second0), (wholes)(second + first0));
        if (vectors == 2)
            DOT(sum1[r], (wholes)(first + second1), (wholes)(second + first1));
    }
}

/* rows <= WHOLE_ROWS and vectors are constants where this is inlined, so that the sums are
 * registers. */
static inline __attribute__((always_inline)) void whole_tile(const int rows, const int vectors,
                                                             const struct whole_part *p, float *c,
                                                             size_t ldc, bool add)
{
    wholes sum0[WHOLE_ROWS] = {{0}}, sum1[WHOLE_ROWS] = {{0}};
    const float *row[WHOLE_ROWS / 2 + 1];
    const int n = (rows + 3) / 4 * 2;
    const wholes *b = (const wholes *)(const void *)p->b;
    size_t k = p->crossed, stride = p->stride;
#pragma GCC unroll 16
    for (int j = 0; j < n; j++)
        row[j] = p->a + (size_t)(j / 2 * 4 + j % 2) * stride;
    if (k > 0) {
        const words *cross = (const words *)p->b_cross;
        words cross0 = cross[0], cross1 = cross[vectors - 1];
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            uint32_t of_row = (uint32_t)p->cross[(size_t)r * stride];
            sum0[r] = (wholes)(cross0 + of_row);
            sum1[r] = (wholes)(cross1 + of_row);
        }
    }
    for (; k > 0; k -= WHOLE_UNROLL, b += WHOLE_UNROLL * vectors) {
#pragma GCC unroll 4
        for (int i = 0; i < WHOLE_UNROLL; i += 2) {
            const float *at[WHOLE_ROWS / 2 + 1];
#pragma GCC unroll 16
            for (int j = 0; j < n; j++)
                at[j] = row[j] + i;
            crossed_rows(rows, vectors, at, stride, b + i * vectors, sum0, sum1);
        }
#pragma GCC unroll 16
        for (int j = 0; j < n; j++) {
            row[j] += WHOLE_UNROLL;
            __asm__("" : "+r"(row[j])); /* a pointer each, no index: that would be read apart */
        }
    }
    for (k = p->pairs - p->crossed; k > 0; k--, b += vectors) {
        whole_row(rows, vectors, row, stride, b, sum0, sum1);
#pragma GCC unroll 16
        for (int j = 0; j < n; j++)
            row[j]++;
    }
    const floats *units = (const floats *)p->b_units;
    floats unit0 = units[0], unit1 = units[vectors - 1];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        floats *to = (floats *)(c + (size_t)r * ldc);
        floats unit = (floats){0} + p->units[(size_t)r * stride];
        floats v0 = __builtin_convertvector(sum0[r], floats) * (unit0 * unit);
        if (add)
            v0 += to[0];
        to[0] = v0;
        if (vectors == 2) {
            floats v1 = __builtin_convertvector(sum1[r], floats) * (unit1 * unit);
            if (add)
                v1 += to[1];
            to[1] = v1;
        }
    }
}

#define WHOLE_CASE(r)                                                                              \
    case r:                                                                                        \
        whole_tile(r, vectors, p, c, ldc, add);                                                    \
        break;

static inline __attribute__((always_inline)) void whole_rows(const int vectors, size_t rows,
                                                             const struct whole_part *p, float *c,
                                                             size_t ldc, bool add)
{
    switch (rows) {
        COV_TILES_12(WHOLE_CASE)
    default:
        break;
    }
}

/* Rows of a that are ready, columns k0 .. k0+k-1 of it, times B. */
struct whole_product {
    size_t k0, k;
    const float *ready;
    const struct cov_matrix *b;
    size_t ldc;
    bool add;
};

/* c[m, panel] of one panel of B, in parts of COV_INT16_DEPTH of k. */
static void multiply_panel(const struct whole_product *of, size_t panel, size_t m,
                           const float *ready, float *c, size_t ldc)
{
    const struct cov_matrix *b = of->b;
    size_t k = of->k, k0 = of->k0;
    size_t stride = ready_floats(k), depth = (b->k + 1) / 2, part = COV_INT16_DEPTH / 2;
    size_t n_parts = (depth + part - 1) / part;
    const int32_t *cross = b->cross + (panel * n_parts + k0 / COV_INT16_DEPTH) * b->panel;
    size_t pairs = depth - k0 / 2 < (k + 1) / 2 ? depth - k0 / 2 : (k + 1) / 2;
    const int16_t *rows = (const int16_t *)b->pairs + (panel * depth * 2 + k0) * b->panel;
    for (size_t r0 = 0, n_left = (m + WHOLE_ROWS - 1) / WHOLE_ROWS; n_left > 0; n_left--) {
        size_t n = (m - r0) / n_left; /* tiles of nearly equal height */
        const float *a = ready + r0 * stride;
        for (size_t i = 0; i < pairs; i += part) {
            const float *units = a + row_floats(k);
            size_t n_pairs = pairs - i < part ? pairs - i : part;
            size_t n_units = n_pairs / (COV_INT16_CROSS / 2); /* of cross terms */
            struct whole_part p = {
                .a = a + i,
                .units = units,
                .cross = (const int32_t *)(const void *)units + i / (COV_INT16_CROSS / 2) + n_units,
                .stride = stride,
                .pairs = n_pairs,
                .crossed = n_units * (COV_INT16_CROSS / 2),
                .b = rows + i * 2 * b->panel,
                .b_units = b->unit + panel * b->panel,
                .b_cross = cross + i / part * b->panel,
            };
            if (b->panel > WHOLE_LANES)
                whole_rows(2, n, &p, c + r0 * ldc, ldc, of->add || i > 0);
            else
                whole_rows(1, n, &p, c + r0 * ldc, ldc, of->add || i > 0);
        }
        r0 += n;
    }
}

static void multiply(const struct whole_product *of, size_t m, float *c)
{
    const struct cov_matrix *b = of->b;
    size_t n_whole = b->n / b->panel, cols = b->n - n_whole * b->panel, ldc = of->ldc;
    for (size_t j = 0; j < n_whole; j++)
        multiply_panel(of, j, m, of->ready, c + j * b->panel, ldc);
    for (size_t r = 0; cols > 0 && r < m; r += WHOLE_ROWS) { /* columns that fill no panel */
        float whole[WHOLE_ROWS * WHOLE_PANEL] = {0}, *to = c + r * ldc + n_whole * b->panel;
        size_t n = m - r < WHOLE_ROWS ? m - r : WHOLE_ROWS;
        for (size_t i = 0; of->add && i < n; i++)
            memcpy(whole + i * b->panel, to + i * ldc, cols * sizeof *c);
        multiply_panel(of, n_whole, n, of->ready + r * ready_floats(of->k), whole, b->panel);
        for (size_t i = 0; i < n; i++)
            memcpy(to + i * ldc, whole + i * b->panel, cols * sizeof *c);
    }
}

static void run_ready(size_t m, const float *ready, const struct cov_matrix *b, float *c,
                      size_t ldc)
{
    multiply(&(struct whole_product){0, b->k, ready, b, ldc, false}, m, c);
}

/* Parts of k have units of their own. */
static void run_int16(size_t m, const float *a, size_t lda, const struct cov_matrix *b, float *c,
                      size_t ldc, bool add)
{
    _Alignas(64) float ready[WHOLE_ROOM];
    for (size_t k0 = 0; k0 < b->k; k0 += WHOLE_DEPTH) {
        size_t k = b->k - k0 < WHOLE_DEPTH ? b->k - k0 : WHOLE_DEPTH;
        size_t fit = WHOLE_ROOM / ready_floats(k);
        for (size_t r = 0; r < m; r += fit) {
            size_t n = m - r < fit ? m - r : fit;
            make_ready(n, k, a + r * lda + k0, lda, ready);
            multiply(&(struct whole_product){k0, k, ready, b, ldc, add || k0 > 0}, n, c + r * ldc);
        }
    }
}
