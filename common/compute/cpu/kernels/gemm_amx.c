/* gemm_amx.c - matrix products and sums of outer products with TDPBF16PS on tiles (AMX: Sapphire
 * Rapids and later). The caller has requested the permission (cov_cpu_permit_amx).
 *
 * Tested without such a CPU (tests/unit/test_gemm_amx.c): each instruction is trapped and executed
 * in C, and the loops run with C in place of the instructions. On a CPU with AMX, test_gemm.c and
 * test_outer.c test this file.
 *
 * The instructions are inline assembly because gcc 12 knows neither what LDTILECFG reads nor that
 * loads and stores of tiles access memory.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#define TILE_CONFIGURE(t) __asm__ volatile("ldtilecfg %0" ::"m"(*(t)))
#define TILE_RELEASE() __asm__ volatile("tilerelease" ::: "memory")
#define TILE_ZERO(t) __asm__ volatile("tilezero %%tmm" #t ::: "memory")
#define TILE_LOAD(t, from, bytes)                                                                  \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t ::"r"(from), "r"(bytes) : "memory")
#define TILE_STREAM(t, from, bytes)                                                                \
    __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm" #t ::"r"(from), "r"(bytes) : "memory")
#define TILE_STORE(t, to, bytes)                                                                   \
    __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" ::"r"(to), "r"(bytes) : "memory")
#define TILE_DOT(sums, a, b)                                                                       \
    __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #sums ::: "memory")
#include <stdbool.h>
#include <stdint.h>

#define ROUND_32 round_32
#include "common/compute/cpu/kernels/gates_avx512.h"

static inline __m512 float_of(__m256i bits)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

/* Differs from cov_bf16_bits for denormals, which become zero; TDPBF16PS takes them as zero,
 * too. */
static inline void round_32(bool split, const float *x, uint16_t *high, uint16_t *low)
{
    __m512 a = _mm512_loadu_ps(x), b = _mm512_loadu_ps(x + 16);
    __m512i both = (__m512i)_mm512_cvtne2ps_pbh(b, a);
    _mm512_storeu_si512(high, both);
    if (split) {
        a = _mm512_sub_ps(a, float_of(_mm512_castsi512_si256(both)));
        b = _mm512_sub_ps(b, float_of(_mm512_extracti64x4_epi64(both, 1)));
        _mm512_storeu_si512(low, (__m512i)_mm512_cvtne2ps_pbh(b, a));
    }
}

/* Sums of outer products (outer_amx_body.h). */
#define JOIN_32 join_32
#define TRANSPOSE_16 transpose_16

static inline void join_32(const float *x, const float *y, uint32_t *to)
{
    static const uint16_t order[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                       21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                       11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    for (int j = 0; j < 32; j += 16) {
        __m512i both = (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(y + j), _mm512_loadu_ps(x + j));
        both = _mm512_permutexvar_epi16(_mm512_loadu_si512(order), both);
        _mm512_storeu_si512(to + j, both);
    }
}

/* Of 4 x 4 blocks of 16 x 16 numbers, sets row[4 i + j] to the columns j of blocks i. */
static inline void transpose_blocks(__m512i row[16])
{
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        __m512i a = _mm512_unpacklo_epi32(row[i], row[i + 1]);
        __m512i b = _mm512_unpackhi_epi32(row[i], row[i + 1]);
        __m512i c = _mm512_unpacklo_epi32(row[i + 2], row[i + 3]);
        __m512i d = _mm512_unpackhi_epi32(row[i + 2], row[i + 3]);
        row[i] = _mm512_unpacklo_epi64(a, c);
        row[i + 1] = _mm512_unpackhi_epi64(a, c);
        row[i + 2] = _mm512_unpacklo_epi64(b, d);
        row[i + 3] = _mm512_unpackhi_epi64(b, d);
    }
}

static inline void transpose_16(const uint32_t *from, uint32_t *to, size_t to_stride)
{
    enum { FROM_STRIDE = 32, EVEN = 0x88, ODD = 0xdd };
    __m512i row[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        row[i] = _mm512_loadu_si512(from + i * FROM_STRIDE);
    transpose_blocks(row);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++, to += to_stride) {
        __m512i a = _mm512_shuffle_i32x4(row[j], row[4 + j], EVEN);
        __m512i b = _mm512_shuffle_i32x4(row[j], row[4 + j], ODD);
        __m512i c = _mm512_shuffle_i32x4(row[8 + j], row[12 + j], EVEN);
        __m512i d = _mm512_shuffle_i32x4(row[8 + j], row[12 + j], ODD);
        _mm512_storeu_si512(to, _mm512_shuffle_i32x4(a, c, EVEN));
        _mm512_storeu_si512(to + 4 * to_stride, _mm512_shuffle_i32x4(b, d, EVEN));
        _mm512_storeu_si512(to + 8 * to_stride, _mm512_shuffle_i32x4(a, c, ODD));
        _mm512_storeu_si512(to + 12 * to_stride, _mm512_shuffle_i32x4(b, d, ODD));
    }
}

#include "common/compute/cpu/kernels/gemm_amx_body.h"

#include "common/compute/cpu/kernels/fused_amx_body.h"
#include "common/compute/cpu/kernels/outer_amx_body.h"

#define NEEDS                                                                                      \
    (COV_CPU_AVX512F | COV_CPU_AVX512DQ | COV_CPU_AVX512BW | COV_CPU_AVX512VL |                    \
     COV_CPU_AVX512_BF16 | COV_CPU_AMX_TILE | COV_CPU_AMX_BF16)

const struct cov_gemm cov_gemm_amx_bf16 = {.name = "AMX",
                                           .needs = NEEDS,
                                           .lanes = PAIRS_LANES,
                                           .width = PAIRS_PANEL,
                                           .run = amx_bf16,
                                           .pack = cov_gemm_pack_pairs,
                                           .arithmetic = COV_BF16,
                                           .k_unit = TILE_UNIT,
                                           .run_rows = amx_rows_bf16,
                                           .lstm_step = amx_lstm_bf16};
const struct cov_gemm cov_gemm_amx_bf16x3 = {.name = "AMX",
                                             .needs = NEEDS,
                                             .lanes = PAIRS_LANES,
                                             .width = PAIRS_PANEL,
                                             .run = amx_bf16x3,
                                             .pack = cov_gemm_pack_pairs,
                                             .arithmetic = COV_BF16X3,
                                             .k_unit = TILE_UNIT,
                                             .lstm_step = amx_lstm_bf16x3};
const struct cov_outer cov_outer_amx_bf16 = {"AMX", NEEDS, amx_outer, COV_BF16};

#endif
