/* gemm_int16_body.h - products of 16-bit integers (operands.h) by an instruction that multiplies pairs
 * of them and adds both products to a 32-bit integer; included by gemm_avx512vnni.c, and by its
 * test with C in place of the instruction. Both define DOT(sums, a, b) on vectors of 16, in place
 * and modulo 2^32, EVERY_PAIR(p), the pair at p in all lanes, and PAIRS_AT(p), the vector at p.
 *
 * Two of the four vector units of AMD's cores execute DOT, and all four add. Of three pairs of k,
 * two are crossed (operands.h), which takes one DOT and two additions, and one is multiplied directly.
 * These four instructions keep all units busy, and take two thirds of the time of three DOTs.
 *
 * A prepared row consists of its k integers, zeros up to a cache line, its unit, and its negative
 * cross terms, one for each part of COV_INT16_DEPTH elements of k.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/operands.h"

enum {
    INT16_LANES = 16,
    INT16_PANEL = 32,
    INT16_ROWS = 12, /* rows of a tile */
    INT16_UNIT = 2,
    INT16_LINE = 16,        /* floats of a cache line */
    INT16_AHEAD = 16,       /* pairs of rows of b */
    INT16_DEPTH = 8192,     /* elements of k prepared at once */
    INT16_ROOM = 24 * 1024, /* floats of prepared rows */
};

typedef float floats __attribute__((vector_size(INT16_LANES * 4), aligned(4), may_alias));
typedef int32_t int32s __attribute__((vector_size(INT16_LANES * 4), aligned(4), may_alias));
typedef uint16_t halves __attribute__((vector_size(INT16_LANES * 4), aligned(4), may_alias));
/* Additions that may overflow use unsigned types, which wrap. */
typedef uint32_t words __attribute__((vector_size(INT16_LANES * 4), aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))

static size_t int16_lines(size_t n)
{
    return (n + INT16_LINE - 1) / INT16_LINE * INT16_LINE;
}

/* The size of a row's integers in floats. */
static size_t row_floats(size_t k)
{
    return int16_lines(k / 2 + k % 2);
}

static size_t prepared_floats(size_t k)
{
    return row_floats(k) + int16_lines(1 + (k + COV_INT16_DEPTH - 1) / COV_INT16_DEPTH);
}

/* The pairs of the next part of a row, of which n are left. */
static size_t part_of(size_t n)
{
    return n < COV_INT16_DEPTH / 2 ? n : COV_INT16_DEPTH / 2;
}

static float largest_of(size_t k, const float *a)
{
    int32_t most = 0; /* the bits of absolute values have the same order as the values; NaN is the
                       * largest */
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

static void round_row(size_t k, const float *restrict a, float inverse, int16_t *restrict to)
{
    for (size_t i = 0; i < k; i++)
        to[i] = cov_int16_of(a[i], inverse);
}

/* Lanes in which the first of two crossed pairs can be, for the three vectors of a period. */
static const int32s firsts[COV_INT16_THREE] = {
    {-1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1},
    {0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0},
    {0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0},
};

/* Returns the negative cross term of a part of n pairs. */
static int32_t cross_of_row(size_t n, const int32_t *row)
{
    const int32s lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    int32s sum = {0};
    size_t crossed = n / COV_INT16_THREE * COV_INT16_THREE;
    for (size_t i = 0, j = 0; i < crossed; i += INT16_LANES, j = j == 2 ? 0 : j + 1) {
        int32s which = firsts[j] & (lanes < (int32_t)(crossed - i));
        DOT(sum, *(const int32s *)(row + i) & which, *(const int32s *)(row + i + 1));
    }
    uint32_t total = 0;
    for (int j = 0; j < INT16_LANES; j++)
        total += (uint32_t)sum[j];
    return (int32_t)-total;
}

static void prepare(size_t m, size_t k, const float *a, size_t lda, float *ready)
{
    size_t n = row_floats(k), stride = prepared_floats(k);
    for (size_t r = 0; r < m; r++, ready += stride) {
        const float *from = a + r * lda;
        float inverse;
        ready[n] = cov_int16_row_unit(largest_of(k, from), &inverse);
        int16_t *to = (int16_t *)(void *)ready;
        round_row(k, from, inverse, to);
        if (k < 2 * n)
            memset(to + k, 0, (2 * n - k) * sizeof *to);
        int32_t *cross = (int32_t *)(void *)(ready + n + 1);
        size_t pairs = (k + 1) / 2;
        for (size_t i = 0; i < pairs; i += COV_INT16_DEPTH / 2)
            *cross++ = cross_of_row(part_of(pairs - i), (const int32_t *)(void *)ready + i);
    }
}

/* Part of a product: prepared rows of `a`, starting at some pair, and rows of a panel. */
struct int16_part {
    const float *a, *units; /* operands and units of row 0 */
    const int32_t *cross;   /* cross term of row 0 */
    size_t stride;          /* from row to row */
    size_t pairs;
    const int16_t *b;
    const float *b_units;
    const int32_t *b_cross;
};

/* One pointer serves two rows of `a`: the pointer for row r points to row 4 (r / 4) + r % 2, which
 * is row r or two rows above it. */
struct int16_rows {
    const float *at[INT16_ROWS / 2];
    size_t two; /* floats of two rows */
};

INLINE const float *row_of(const struct int16_rows *a, int r)
{
    return a->at[r / 4 * 2 + r % 2] + (r % 4 < 2 ? 0 : a->two);
}

INLINE void step(struct int16_rows *a, const int rows, size_t pairs)
{
#pragma GCC unroll 8
    for (int j = 0; j < (rows + 3) / 4 * 2; j++) {
        a->at[j] += pairs;
        __asm__("" : "+r"(a->at[j])); /* keeps a pointer per row: the CPU splits indexed reads */
    }
}

/* Multiplies with one pair of rows of B; `pair` is its place in the rows of `a`. */
INLINE void multiply_pair(const int rows, const int vectors, const struct int16_rows *a, int pair,
                          const int32s *b, int32s (*sums)[2])
{
    int32s right0 = PAIRS_AT(b), right1 = vectors == 2 ? PAIRS_AT(b + 1) : right0;
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        int32s left = EVERY_PAIR(row_of(a, r) + pair);
        DOT(sums[r][0], left, right0);
        if (vectors == 2)
            DOT(sums[r][1], left, right1);
    }
}

/* Multiplies with three pairs of rows of B, of which the first two are crossed. The direct product
 * comes first, so that only the sums, two crossed pairs and four more vectors need registers. */
INLINE void multiply_three(const int rows, const int vectors, const struct int16_rows *a,
                           const int32s *b, int32s (*sums)[2])
{
#pragma GCC unroll 8
    for (int i = 0; i < COV_INT16_THREE * vectors; i++)
        __builtin_prefetch((const char *)(b + INT16_AHEAD * vectors + i));
    multiply_pair(rows, vectors, a, 2, b + 2 * vectors, sums);
    halves first0 = (halves)PAIRS_AT(b), second0 = (halves)PAIRS_AT(b + vectors);
    halves first1 = vectors == 2 ? (halves)PAIRS_AT(b + 1) : first0;
    halves second1 = vectors == 2 ? (halves)PAIRS_AT(b + 3) : second0;
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        const float *p = row_of(a, r);
        halves first = (halves)EVERY_PAIR(p), second = (halves)EVERY_PAIR(p + 1);
        DOT(sums[r][0], (int32s)(first + second0), (int32s)(second + first0));
        if (vectors == 2)
            DOT(sums[r][1], (int32s)(first + second1), (int32s)(second + first1));
    }
}

/* rows <= INT16_ROWS and vectors are constants when this is inlined, so the sums stay in
 * registers. */
INLINE void int16_tile(const int rows, const int vectors, const struct int16_part *p, float *c,
                       size_t ldc, bool add)
{
    int32s sums[INT16_ROWS][2];
    struct int16_rows a = {.two = 2 * p->stride};
    const int32s *b = (const int32s *)(const void *)p->b;
    const words *cross = (const words *)p->b_cross;
    words cross0 = cross[0], cross1 = cross[vectors - 1];
    size_t k = p->pairs;
#pragma GCC unroll 8
    for (int j = 0; j < (rows + 3) / 4 * 2; j++)
        a.at[j] = p->a + (size_t)(j / 2 * 4 + j % 2) * p->stride;
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        uint32_t of_row = (uint32_t)p->cross[(size_t)r * p->stride];
        sums[r][0] = (int32s)(cross0 + of_row);
        sums[r][1] = (int32s)(cross1 + of_row);
    }
    for (; k >= COV_INT16_THREE; k -= COV_INT16_THREE, b += COV_INT16_THREE * vectors) {
        multiply_three(rows, vectors, &a, b, sums);
        step(&a, rows, COV_INT16_THREE);
    }
    for (; k > 0; k--, b += vectors) {
        multiply_pair(rows, vectors, &a, 0, b, sums);
        step(&a, rows, 1);
    }
    const floats *units = (const floats *)p->b_units;
    floats unit0 = units[0], unit1 = units[vectors - 1];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        floats *to = (floats *)(c + (size_t)r * ldc);
        floats unit = (floats){0} + p->units[(size_t)r * p->stride];
        floats v0 = __builtin_convertvector(sums[r][0], floats) * (unit0 * unit);
        if (add)
            v0 += to[0];
        to[0] = v0;
        if (vectors == 2) {
            floats v1 = __builtin_convertvector(sums[r][1], floats) * (unit1 * unit);
            if (add)
                v1 += to[1];
            to[1] = v1;
        }
    }
}

#define INT16_CASE(r)                                                                              \
    case r:                                                                                        \
        int16_tile(r, vectors, p, c, ldc, add);                                                    \
        break;

INLINE void run_tile(const int vectors, size_t rows, const struct int16_part *p, float *c,
                     size_t ldc, bool add)
{
    switch (rows) {
        COV_TILES_12(INT16_CASE)
    default:
        break;
    }
}

/* Columns k0 .. k0+k-1 of prepared rows of `a`, times B. */
struct int16_product {
    size_t k0, k;
    const float *ready;
    const struct cov_matrix *b;
    size_t ldc;
    bool add;
};

/* Computes c[m, panel] for one panel of B, splitting k into parts of COV_INT16_DEPTH. */
static void multiply_panel(const struct int16_product *of, size_t panel, size_t m,
                           const float *ready, float *c, size_t ldc)
{
    const struct cov_matrix *b = of->b;
    size_t k = of->k, k0 = of->k0;
    size_t stride = prepared_floats(k), depth = (b->k + 1) / 2, part = COV_INT16_DEPTH / 2;
    size_t n_parts = (depth + part - 1) / part;
    const int32_t *cross = b->cross + (panel * n_parts + k0 / COV_INT16_DEPTH) * b->panel;
    size_t pairs = depth - k0 / 2 < (k + 1) / 2 ? depth - k0 / 2 : (k + 1) / 2;
    const int16_t *rows = (const int16_t *)b->pairs + (panel * depth * 2 + k0) * b->panel;
    for (size_t r0 = 0, n_left = (m + INT16_ROWS - 1) / INT16_ROWS; n_left > 0; n_left--) {
        size_t n = (m - r0) / n_left; /* tiles of nearly equal height */
        const float *a = ready + r0 * stride;
        for (size_t i = 0; i < pairs; i += part) {
            const float *units = a + row_floats(k);
            struct int16_part p = {
                .a = a + i,
                .units = units,
                .cross = (const int32_t *)(const void *)units + 1 + i / part,
                .stride = stride,
                .pairs = part_of(pairs - i),
                .b = rows + i * 2 * b->panel,
                .b_units = b->unit + panel * b->panel,
                .b_cross = cross + i / part * b->panel,
            };
            if (b->panel > INT16_LANES)
                run_tile(2, n, &p, c + r0 * ldc, ldc, of->add || i > 0);
            else
                run_tile(1, n, &p, c + r0 * ldc, ldc, of->add || i > 0);
        }
        r0 += n;
    }
}

static void multiply(const struct int16_product *of, size_t m, float *c)
{
    const struct cov_matrix *b = of->b;
    size_t n_whole = b->n / b->panel, cols = b->n - n_whole * b->panel, ldc = of->ldc;
    for (size_t j = 0; j < n_whole; j++)
        multiply_panel(of, j, m, of->ready, c + j * b->panel, ldc);
    for (size_t r = 0; cols > 0 && r < m; r += INT16_ROWS) { /* columns that do not fill a panel */
        float whole[INT16_ROWS * INT16_PANEL] = {0}, *to = c + r * ldc + n_whole * b->panel;
        size_t n = m - r < INT16_ROWS ? m - r : INT16_ROWS;
        for (size_t i = 0; of->add && i < n; i++)
            memcpy(whole + i * b->panel, to + i * ldc, cols * sizeof *c);
        multiply_panel(of, n_whole, n, of->ready + r * prepared_floats(of->k), whole, b->panel);
        for (size_t i = 0; i < n; i++)
            memcpy(to + i * ldc, whole + i * b->panel, cols * sizeof *c);
    }
}

static void run_prepared(size_t m, const float *ready, const struct cov_matrix *b, float *c,
                         size_t ldc)
{
    multiply(&(struct int16_product){0, b->k, ready, b, ldc, false}, m, c);
}

/* Each part of INT16_DEPTH elements of k has its own units. */
static void run_int16(size_t m, const float *a, size_t lda, const struct cov_matrix *b, float *c,
                      size_t ldc, bool add)
{
    _Alignas(64) float ready[INT16_ROOM];
    for (size_t k0 = 0; k0 < b->k; k0 += INT16_DEPTH) {
        size_t k = b->k - k0 < INT16_DEPTH ? b->k - k0 : INT16_DEPTH;
        size_t fit = INT16_ROOM / prepared_floats(k);
        for (size_t r = 0; r < m; r += fit) {
            size_t n = m - r < fit ? m - r : fit;
            prepare(n, k, a + r * lda + k0, lda, ready);
            multiply(&(struct int16_product){k0, k, ready, b, ldc, add || k0 > 0}, n, c + r * ldc);
        }
    }
}
