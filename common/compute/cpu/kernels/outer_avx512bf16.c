/* outer_avx512bf16.c - sums of outer products with VDPBF16PS (AVX-512 BF16: Zen 4, Cooper Lake,
 * Sapphire Rapids and later). The instruction multiplies pairs of elements, each from two rows of an
 * operand, and adds both products.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/operands.h"
#include "common/compute/cpu/kernels/outer.h"

enum {
    LANES = 16,
    ROWS = 12,
    WIDTH = 2 * LANES,
    PAIRS = COV_OUTER_DEPTH / 2,
    SLICE = 8 * ROWS,    /* columns of `a` at once */
    COLUMNS = 8 * WIDTH, /* columns of `b` at once */
    CALL = 8,            /* rows of k per call of cov_outer_prefetch in a tile */
};

#define INLINE static inline __attribute__((always_inline))

/* to[j] = x[j] in the lower half and, if there is a next row, x[stride + j] in the upper half. */
static void join(size_t n, const float *x, size_t stride, bool below, uint32_t *to)
{
    size_t j = 0;
    for (; below && j + LANES <= n; j += LANES) {
        __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(x + j)));
        __m512i high =
            _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(x + stride + j)));
        _mm512_storeu_si512(to + j, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
    for (; j < n; j++)
        to[j] = cov_bf16_bits(x[j]) | (uint32_t)(below ? cov_bf16_bits(x[stride + j]) : 0) << 16;
}

/* A tile: the products of columns of a[k, SLICE] with b[k, WIDTH]. */
struct operands {
    size_t k; /* pairs */
    const uint32_t *a, *b;
    struct cov_outer_ahead *ahead;
};

/* c[rows, WIDTH] += the products; rows is a constant. */
INLINE void tile(const int rows, const struct operands *o, float *c, size_t ldc)
{
    __m512 sum0[ROWS], sum1[ROWS];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
        sum0[r] = sum1[r] = _mm512_setzero_ps();
    const uint32_t *a = o->a, *b = o->b;
    for (size_t i = 1; i <= o->k; i++, a += SLICE, b += WIDTH) {
        if (i % (CALL / 2) == 0)
            cov_outer_prefetch(o->ahead);
        __m512bh right0 = (__m512bh)_mm512_load_si512(b);
        __m512bh right1 = (__m512bh)_mm512_load_si512(b + LANES);
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            __m512bh left = (__m512bh)_mm512_set1_epi32((int)a[r]);
            sum0[r] = _mm512_dpbf16_ps(sum0[r], left, right0);
            sum1[r] = _mm512_dpbf16_ps(sum1[r], left, right1);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        float *to = c + (size_t)r * ldc;
        _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sum0[r]));
        _mm512_storeu_ps(to + LANES, _mm512_add_ps(_mm512_loadu_ps(to + LANES), sum1[r]));
    }
}

#define TILE(r)                                                                                    \
    case r:                                                                                        \
        tile(r, o, c, ldc);                                                                        \
        break;

static void run_tile(size_t rows, const struct operands *o, float *c, size_t ldc)
{
    switch (rows) {
        COV_TILES_12(TILE)
    default:
        break;
    }
}

static void run_edge(size_t rows, size_t cols, const struct operands *o, float *c, size_t ldc)
{
    float whole[ROWS * WIDTH] = {0};
    run_tile(rows, o, whole, WIDTH);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < cols; j++)
            c[r * ldc + j] += whole[r * WIDTH + j];
}

/* packed[panel][pair][WIDTH] = n <= COLUMNS columns of b, then zeros. */
static void pack_right(size_t n, size_t k, const float *b, size_t ldb, uint32_t *packed)
{
    for (size_t j = 0; j < n; j += WIDTH)
        for (size_t i = 0; i < k; i += 2, packed += WIDTH) {
            size_t cols = n - j < WIDTH ? n - j : WIDTH;
            join(cols, b + i * ldb + j, ldb, i + 1 < k, packed);
            memset(packed + cols, 0, (WIDTH - cols) * sizeof *packed);
        }
}

/* Adds the sum over s->k <= COV_OUTER_DEPTH rows, for s->n <= COLUMNS columns of b. */
static void add_block(const struct cov_outer_sum *s, struct cov_outer_ahead *ahead)
{
    _Alignas(64) uint32_t left[PAIRS * SLICE], right[PAIRS * COLUMNS];
    size_t pairs = (s->k + 1) / 2;
    pack_right(s->n, s->k, s->b, s->ldb, right);
    for (size_t i = 0; i < s->m; i += SLICE) {
        size_t slice = s->m - i < SLICE ? s->m - i : SLICE;
        for (size_t k = 0; k < s->k; k += 2)
            join(slice, s->a + k * s->lda + i, s->lda, k + 1 < s->k, left + k / 2 * SLICE);
        for (size_t j = 0; j < s->n; j += WIDTH)
            for (size_t r = 0; r < slice; r += ROWS) {
                size_t rows = slice - r < ROWS ? slice - r : ROWS;
                const struct operands o = {pairs, left + r, right + j * pairs, ahead};
                float *to = s->c + (i + r) * s->ldc + j;
                if (s->n - j < WIDTH)
                    run_edge(rows, s->n - j, &o, to, s->ldc);
                else
                    run_tile(rows, &o, to, s->ldc);
            }
    }
}

static void add(const struct cov_outer_sum *s, const struct cov_outer_rows *next)
{
    size_t n_tiles = (s->m + ROWS - 1) / ROWS * ((s->n + WIDTH - 1) / WIDTH);
    cov_outer_add_blocks(s, next, COLUMNS, n_tiles, CALL, add_block);
}

#define NEEDS (COV_CPU_AVX512F | COV_CPU_AVX512BW | COV_CPU_AVX512VL | COV_CPU_AVX512_BF16)

const struct cov_outer cov_outer_dot_bf16 = {"AVX-512 BF16", NEEDS, add, COV_BF16};

#endif
