/* gemm_inner_body.h - single-precision products for processors that add while they multiply: AMD's
 * cores since Zen 4 start a fused multiply-add and an addition of whole vectors in the same cycle,
 * but Intel's cores start only one of the two. Two thirds of k form pairs that need one
 * multiplication instead of two,
 *     (a0 + b1) (a1 + b0)  =  a0 b0 + a1 b1  +  a0 a1 + b0 b1
 *   - (a0 - b1) (a1 - b0)  =  a0 b0 + a1 b1  -  a0 a1 - b0 b1
 * where the products of elements of `a` are summed once per row, and those of `b` when B is packed.
 * Pairs alternate in sign, so that these sums stay small. Of six rows of B, one is multiplied
 * directly, two form a pair of the first kind, one is multiplied directly, and two form a pair of
 * the second kind. This takes as many additions as multiply-adds, and 4 cycles instead of 6.
 * Source: S. Winograd, A New Algorithm for Inner Product (1968).
 *
 * Rounding errors are relative to the larger operand. So columns of B and rows of `a` are first
 * scaled by powers of two to a root mean square close to 1, and sums are scaled back at the end.
 * Errors are then 1.1 times those of plain products; 1.3 times if half of the elements of `a` are
 * zeros, and 2.5 times if nine in ten are.
 *
 * The powers are limited to the range 2^-60 to 2^60. Beyond that, errors grow, and at 2^128 sums of
 * squares of rows overflow: results are then NaN, as for rows with an infinite element.
 *
 * The including file defines INNER_SHARES (1: a float of `a` is broadcast to a register for both
 * vectors of columns; 0: each instruction reads it from memory), and INNER_TABLE, INNER_NAME and
 * INNER_NEEDS of its table.
 * SPDX-License-Identifier: MIT */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/gemm.h"

enum {
    LANES = 16,
    ROWS = 12, /* rows of a tile: with two vectors of columns, their sums fill the registers */
    SIX = COV_INNER_ROWS, /* rows of B in the pattern */
    TURN = 4,             /* rows of `a` between direct products and pairs */
    AHEAD = 30,           /* rows of B */
    TOGETHER = 4,         /* rows of `a` whose sums are computed at the same time */
    ROOM = 12 * 1168,     /* floats of rows that run() prepares at once */
    MAX_SCALE = COV_INNER_MAX_SCALE,
};
#include "common/compute/cpu/kernels/gemm_tiling.h"

#define INLINE static inline __attribute__((always_inline))

/* One pointer serves two rows of `a`: the pointer for row r points to row 4 (r / 4) + r % 2, which
 * is row r or two rows above it. Elements of a row are `apart` floats apart, a constant. */
struct rows {
    const float *at[ROWS / 2];
    size_t two; /* floats of two rows */
};

INLINE struct rows rows_at(const int rows, const float *a, size_t stride)
{
    struct rows to = {.two = 2 * stride};
#pragma GCC unroll 8
    for (int j = 0; j < (rows + 3) / 4 * 2; j++)
        to.at[j] = a + (size_t)(j / 2 * 4 + j % 2) * stride;
    return to;
}

INLINE const float *row_of(const struct rows *a, int r)
{
    return a->at[r / 4 * 2 + r % 2] + (r % 4 < 2 ? 0 : a->two);
}

INLINE void step(struct rows *a, const int rows, size_t floats)
{
#pragma GCC unroll 8
    for (int j = 0; j < (rows + 3) / 4 * 2; j++) {
        a->at[j] += floats;
        __asm__("" : "+r"(a->at[j])); /* keeps a pointer per row: the CPU splits indexed reads */
    }
}

#if INNER_SHARES

INLINE __m512 lanes_at(const float *p)
{
    __m512 v;
    __asm__ volatile("vmovaps %1, %0" : "=v"(v) : "m"(*(const __m512 *)p));
    return v;
}

/* In assembly, because the compiler writes sums to other registers and copies them back. A float is
 * broadcast to a register for both vectors of columns: on Zen 5 that uses one of two reads per
 * cycle and no execution unit. */

/* Multiplies one row of `a` with one row of B. */
INLINE void multiply_lanes(const int vectors, const float *left, __m512 right0, __m512 right1,
                           __m512 *sum0, __m512 *sum1)
{
    __m512 x;
    if (vectors == 2)
        __asm__ volatile("vbroadcastss %3, %2\n\t"
                         "vfmadd231ps %4, %2, %0\n\t"
                         "vfmadd231ps %5, %2, %1"
                         : "+v"(*sum0), "+v"(*sum1), "=&v"(x)
                         : "m"(*left), "v"(right0), "v"(right1));
    else
        __asm__ volatile("vfmadd231ps %1%{1to16%}, %2, %0" : "+v"(*sum0) : "m"(*left), "v"(right0));
}

/* Multiplies one row of `a` with a pair of rows of B. */
#define PAIR_OF_TWO(add, multiply)                                                                 \
    __asm__ volatile("vbroadcastss %6, %2\n\t"                                                     \
                     "vbroadcastss %7, %3\n\t" add " %2, %10, %4\n\t" add                          \
                     " %3, %8, %5\n\t" multiply " %4, %5, %0\n\t" add " %2, %11, %2\n\t" add       \
                     " %3, %9, %3\n\t" multiply " %2, %3, %1"                                      \
                     : "+v"(*sum0), "+v"(*sum1), "=&v"(a0), "=&v"(a1), "=&v"(x), "=&v"(y)          \
                     : "m"(left[0]), "m"(left[apart]), "v"(right[0][0]), "v"(right[0][1]),         \
                       "v"(right[1][0]), "v"(right[1][1]))
#define PAIR_OF_ONE(add, multiply)                                                                 \
    __asm__ volatile(add " %3%{1to16%}, %6, %1\n\t" add " %4%{1to16%}, %5, %2\n\t" multiply        \
                         " %1, %2, %0"                                                             \
                     : "+v"(*sum0), "=&v"(x), "=&v"(y)                                             \
                     : "m"(left[0]), "m"(left[apart]), "v"(right[0][0]), "v"(right[1][0]))

INLINE void multiply_pair(const int vectors, const bool negative, const float *left,
                          const int apart, __m512 right[2][2], __m512 *sum0, __m512 *sum1)
{
    __m512 a0, a1, x, y;
    if (vectors == 2 && negative)
        PAIR_OF_TWO("vsubps", "vfnmadd231ps");
    else if (vectors == 2)
        PAIR_OF_TWO("vaddps", "vfmadd231ps");
    else if (negative)
        PAIR_OF_ONE("vsubps", "vfnmadd231ps");
    else
        PAIR_OF_ONE("vaddps", "vfmadd231ps");
}

/* Multiplies with three rows of B: one directly and two as a pair, alternating every few rows of
 * `a` so that the adders stay busy. The registers hold the sums, the pair, and four more
 * vectors. */
INLINE void multiply_three(const int rows, const int vectors, const bool negative,
                           const struct rows *a, const int apart, int k, const float *b,
                           __m512 *sum0, __m512 *sum1)
{
    const int width = vectors * LANES, second = (vectors - 1) * LANES;
    __m512 pair[2][2];
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        pair[i][0] = lanes_at(b + (1 + i) * width);
        pair[i][1] = vectors == 2 ? lanes_at(b + (1 + i) * width + second) : pair[i][0];
    }
#pragma GCC unroll 4
    for (int first = 0; first < rows; first += TURN) {
        __m512 right0 = lanes_at(b), right1 = vectors == 2 ? lanes_at(b + second) : right0;
#pragma GCC unroll 4
        for (int i = 0; i < TURN; i++)
            if (first + i < rows)
                multiply_lanes(vectors, row_of(a, first + i) + k * apart, right0, right1,
                               &sum0[first + i], &sum1[first + i]);
#pragma GCC unroll 4
        for (int i = 0; i < TURN; i++)
            if (first + i < rows)
                multiply_pair(vectors, negative, row_of(a, first + i) + (k + 1) * apart, apart,
                              pair, &sum0[first + i], &sum1[first + i]);
    }
}

INLINE void multiply_one(const int rows, const int vectors, const struct rows *a, const float *b,
                         __m512 *sum0, __m512 *sum1)
{
    __m512 right0 = lanes_at(b), right1 = vectors == 2 ? lanes_at(b + LANES) : right0;
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
        multiply_lanes(vectors, row_of(a, r), right0, right1, &sum0[r], &sum1[r]);
}

#else

/* In assembly, because the compiler writes sums to other registers and copies them back; it would
 * also broadcast a float to a register to use it twice, which occupies an adder. */
INLINE __m512 multiply(__m512 sum, const float *left, __m512 right)
{
    __asm__ volatile("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(right), "m"(*left));
    return sum;
}

INLINE __m512 multiply_pair(__m512 sum, const float *left, const int apart, __m512 right0,
                            __m512 right1)
{
    __m512 x, y;
    __asm__ volatile("vaddps %2%{1to16%}, %1, %0" : "=v"(x) : "v"(right1), "m"(left[0]));
    __asm__ volatile("vaddps %2%{1to16%}, %1, %0" : "=v"(y) : "v"(right0), "m"(left[apart]));
    __asm__ volatile("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
    return sum;
}

INLINE __m512 subtract_pair(__m512 sum, const float *left, const int apart, __m512 right0,
                            __m512 right1)
{
    __m512 x, y;
    __asm__ volatile("vsubps %2%{1to16%}, %1, %0" : "=v"(x) : "v"(right1), "m"(left[0]));
    __asm__ volatile("vsubps %2%{1to16%}, %1, %0" : "=v"(y) : "v"(right0), "m"(left[apart]));
    __asm__ volatile("vfnmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
    return sum;
}

/* Multiplies with three rows of B: one directly and two as a pair. */
INLINE void multiply_three(const int rows, const int vectors, const bool negative,
                           const struct rows *a, const int apart, int k, const float *b,
                           __m512 *sum0, __m512 *sum1)
{
    const int width = vectors * LANES, second = (vectors - 1) * LANES;
    __m512 right[3][2];
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        right[i][0] = _mm512_load_ps(b + i * width);
        right[i][1] = _mm512_load_ps(b + i * width + second);
        __builtin_prefetch(b + (i + AHEAD) * width);
        if (vectors == 2)
            __builtin_prefetch(b + (i + AHEAD) * width + LANES);
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        const float *left = row_of(a, r) + k * apart, *pair = left + apart;
        sum0[r] = multiply(sum0[r], left, right[0][0]);
        sum0[r] = negative ? subtract_pair(sum0[r], pair, apart, right[1][0], right[2][0])
                           : multiply_pair(sum0[r], pair, apart, right[1][0], right[2][0]);
        if (vectors == 1)
            continue;
        sum1[r] = multiply(sum1[r], left, right[0][1]);
        sum1[r] = negative ? subtract_pair(sum1[r], pair, apart, right[1][1], right[2][1])
                           : multiply_pair(sum1[r], pair, apart, right[1][1], right[2][1]);
    }
}

INLINE void multiply_one(const int rows, const int vectors, const struct rows *a, const float *b,
                         __m512 *sum0, __m512 *sum1)
{
    __m512 right0 = _mm512_load_ps(b), right1 = _mm512_load_ps(b + (vectors - 1) * LANES);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        sum0[r] = multiply(sum0[r], row_of(a, r), right0);
        if (vectors == 2)
            sum1[r] = multiply(sum1[r], row_of(a, r), right1);
    }
}

#endif

/* A prepared row of `a` ends with two floats, end_of(k) floats after its start: the sum of its own
 * products, and the inverse of its scale. Rows that are not prepared are multiplied without
 * pairs. */
static size_t end_of(size_t k)
{
    return (k + LANES - 1) / LANES * LANES;
}

/* c[rows, vectors * LANES] = sums times the units of rows and columns, plus c if `add`. */
INLINE void write_sums(const int rows, const int vectors, const bool add, const bool ready,
                       const float *units, size_t lda, const float *column_units, float *c,
                       size_t ldc, const __m512 *sum0, const __m512 *sum1)
{
    __m512 unit0 = _mm512_load_ps(column_units), zero = _mm512_setzero_ps();
    __m512 unit1 = _mm512_load_ps(column_units + (vectors - 1) * LANES);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++, c += ldc, units += lda) {
        __m512 unit = _mm512_set1_ps(ready ? *units : 1);
        _mm512_storeu_ps(c,
                         _mm512_fmadd_ps(sum0[r], unit * unit0, add ? _mm512_loadu_ps(c) : zero));
        if (vectors == 2)
            _mm512_storeu_ps(c + LANES, _mm512_fmadd_ps(sum1[r], unit * unit1,
                                                        add ? _mm512_loadu_ps(c + LANES) : zero));
    }
}

/* Computes c[rows, vectors * LANES]. rows and vectors are constants when this is inlined, so the
 * sums stay in registers. */
INLINE void tile(const int rows, const int vectors, const bool ready, const struct operands *o,
                 float *c, size_t ldc, bool add)
{
    __m512 sum0[ROWS], sum1[ROWS];
    struct rows a = rows_at(rows, o->a, o->lda);
    const size_t width = (size_t)vectors * LANES;
    const float *column_sums = o->matrix->column_sums + o->column;
    const float *column_units = o->matrix->unit + o->column;
    const float *b = o->b, *end = o->a + end_of(o->k);
    size_t k = o->k;
    if (ready) {
        __m512 columns0 = _mm512_load_ps(column_sums);
        __m512 columns1 = _mm512_load_ps(column_sums + (vectors - 1) * LANES);
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            __m512 row = _mm512_set1_ps(end[(size_t)r * o->lda]);
            sum0[r] = row + columns0;
            sum1[r] = row + columns1;
        }
        for (; k >= SIX; k -= SIX, b += SIX * width) {
            multiply_three(rows, vectors, false, &a, 1, 0, b, sum0, sum1);
            multiply_three(rows, vectors, true, &a, 1, 3, b + 3 * width, sum0, sum1);
            step(&a, rows, SIX);
        }
    } else {
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++)
            sum0[r] = sum1[r] = _mm512_setzero_ps();
    }
    for (; k > 0; k--, b += width) {
        multiply_one(rows, vectors, &a, b, sum0, sum1);
        step(&a, rows, 1);
    }
    if (add)
        write_sums(rows, vectors, true, ready, end + 1, o->lda, column_units, c, ldc, sum0, sum1);
    else
        write_sums(rows, vectors, false, ready, end + 1, o->lda, column_units, c, ldc, sum0, sum1);
}

#define TILE(r)                                                                                    \
    case r:                                                                                        \
        if (vectors == 2 && o->ready)                                                              \
            tile(r, 2, true, o, c, ldc, add);                                                      \
        else if (vectors == 2)                                                                     \
            tile(r, 2, false, o, c, ldc, add);                                                     \
        else if (o->ready)                                                                         \
            tile(r, 1, true, o, c, ldc, add);                                                      \
        else                                                                                       \
            tile(r, 1, false, o, c, ldc, add);                                                     \
        break;

static void run_tile(size_t rows, size_t vectors, const struct operands *o, float *c, size_t ldc,
                     bool add)
{
    switch (rows) {
        COV_TILES_12(TILE)
    default:
        break;
    }
}

/* ---- prepared rows ---- */

/* Factors for the product of an element with the next one. */
static const float turns[3][LANES] __attribute__((aligned(64))) = {
    {0, -1, 0, 0, 1, 0, 0, -1, 0, 0, 1, 0, 0, -1, 0, 0},
    {1, 0, 0, -1, 0, 0, 1, 0, 0, -1, 0, 0, 1, 0, 0, -1},
    {0, 0, 1, 0, 0, -1, 0, 0, 1, 0, 0, -1, 0, 0, 1, 0},
};

static size_t prepared_floats(size_t k)
{
    return end_of(k) + LANES;
}

/* Returns a mask whose bit i is set if i < n. */
INLINE __mmask16 first_of(size_t n)
{
    return (__mmask16)(n < LANES ? (1U << n) - 1 : 0xffffU);
}

/* Adds the upper half of v to the lower one. */
INLINE __m256 fold(__m512 v)
{
    return _mm512_castps512_ps256(v) +
           _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1));
}

/* Adds the lanes of a and b, and of c and d: returns the four sums. */
INLINE __m128 add_lanes(__m512 a, __m512 b, __m512 c, __m512 d)
{
    __m256 sums =
        _mm256_hadd_ps(_mm256_hadd_ps(fold(a), fold(b)), _mm256_hadd_ps(fold(c), fold(d)));
    return _mm256_castps256_ps128(sums) + _mm256_extractf128_ps(sums, 1);
}

/* Returns the exponents of the powers of two nearest to the root of the mean square (0 for a mean
 * square in [1/2, 2)); a row's scale is the inverse power. */
INLINE __m512i exponents_of(__m512 mean_squares)
{
    __m512i bits = _mm512_srli_epi32(_mm512_castps_si512(mean_squares), 23);
    __m512i exponents = _mm512_srai_epi32(_mm512_sub_epi32(bits, _mm512_set1_epi32(126)), 1);
    return _mm512_min_epi32(_mm512_max_epi32(exponents, _mm512_set1_epi32(-MAX_SCALE)),
                            _mm512_set1_epi32(MAX_SCALE));
}

INLINE __m512 powers_of_two(__m512i exponents)
{
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_add_epi32(exponents, _mm512_set1_epi32(127)), 23));
}

/* Prepares TOGETHER rows or one, so that sums of several rows are computed at the same time. */
INLINE void prepare_rows(const int rows, size_t k, const float *a, size_t lda, float *ready)
{
    __m512 squares[TOGETHER], pairs[TOGETHER];
#pragma GCC unroll 4
    for (int r = 0; r < TOGETHER; r++)
        squares[r] = pairs[r] = _mm512_setzero_ps();
    size_t n = k / SIX * SIX, i = 0;
    for (; i + 3 * LANES < n; i += 3 * LANES)
#pragma GCC unroll 3
        for (int j = 0; j < 3; j++)
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) {
                const float *at = a + (size_t)r * lda + i + j * LANES;
                __m512 left = _mm512_loadu_ps(at), right = _mm512_loadu_ps(at + 1);
                squares[r] = _mm512_fmadd_ps(left, left, squares[r]);
                pairs[r] = _mm512_fmadd_ps(left * _mm512_load_ps(turns[j]), right, pairs[r]);
            }
    for (int j = 0; i < k; i += LANES, j++) {
        __mmask16 inside = first_of(k - i), paired = first_of(n > i ? n - i - 1 : 0);
        __m512 turn = _mm512_load_ps(turns[j % 3]);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const float *at = a + (size_t)r * lda + i;
            __m512 left = _mm512_maskz_loadu_ps(inside, at);
            __m512 right = _mm512_maskz_loadu_ps(paired, at + 1);
            squares[r] = _mm512_fmadd_ps(left, left, squares[r]);
            pairs[r] = _mm512_fmadd_ps(left * turn, right, pairs[r]);
        }
    }
    __m128 square_sums = add_lanes(squares[0], squares[1], squares[2], squares[3]);
    __m128 pair_sums = add_lanes(pairs[0], pairs[1], pairs[2], pairs[3]);
    __m512i exponents =
        exponents_of(_mm512_castps128_ps512(square_sums) * _mm512_set1_ps(1 / (float)k));
    __m512 scales = powers_of_two(_mm512_sub_epi32(_mm512_setzero_si512(), exponents));
    __m512 units = powers_of_two(exponents);
    pair_sums *= _mm512_castps512_ps128(scales * scales);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++, a += lda, ready += prepared_floats(k)) {
        __m512 scale = _mm512_set1_ps(scales[r]);
        for (i = 0; i + LANES <= k; i += LANES)
            _mm512_store_ps(ready + i, scale * _mm512_loadu_ps(a + i));
        if (i < k)
            _mm512_store_ps(ready + i, scale * _mm512_maskz_loadu_ps(first_of(k - i), a + i));
        ready[end_of(k)] = pair_sums[r];
        ready[end_of(k) + 1] = units[r];
    }
}

static void prepare(size_t m, size_t k, const float *a, size_t lda, float *ready)
{
    size_t stride = prepared_floats(k);
    for (; m >= TOGETHER; m -= TOGETHER, a += TOGETHER * lda, ready += TOGETHER * stride)
        prepare_rows(TOGETHER, k, a, lda, ready);
    for (; m > 0; m--, a += lda, ready += stride)
        prepare_rows(1, k, a, lda, ready);
}

static void multiply_prepared(size_t m, const float *ready, const struct cov_matrix *b, float *c,
                              size_t ldc, bool add)
{
    struct operands o = {.a = ready,
                         .lda = prepared_floats(b->k),
                         .k = b->k,
                         .ready = true,
                         .b = b->data,
                         .matrix = b};
    run_rows(m, &o, b->k, c, ldc, add);
}

static void run_prepared(size_t m, const float *ready, const struct cov_matrix *b, float *c,
                         size_t ldc)
{
    multiply_prepared(m, ready, b, c, ldc, false);
}

static void run(size_t m, const float *a, size_t lda, const struct cov_matrix *b, float *c,
                size_t ldc, bool add)
{
    _Alignas(64) float ready[ROOM];
    size_t fit = ROOM / prepared_floats(b->k);
    if (fit == 0) {
        struct operands o = {.a = a, .lda = lda, .k = b->k, .b = b->data, .matrix = b};
        run_rows(m, &o, b->k, c, ldc, add);
        return;
    }
    for (size_t r = 0; r < m; r += fit) {
        size_t rows = m - r < fit ? m - r : fit;
        prepare(rows, b->k, a + r * lda, lda, ready);
        multiply_prepared(rows, ready, b, c + r * ldc, ldc, add);
    }
}

const struct cov_gemm INNER_TABLE = {
    .name = INNER_NAME,
    .needs = INNER_NEEDS,
    .lanes = LANES,
    .width = 2 * LANES,
    .run = run,
    .pack = cov_gemm_pack_inner,
    .arithmetic = COV_FP32,
    .prepared_floats = prepared_floats,
    .prepare = prepare,
    .run_prepared = run_prepared,
};
