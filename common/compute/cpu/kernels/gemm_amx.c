/* gemm_amx.c - matrix products with TDPBF16PS on tiles (AMX: Sapphire Rapids and later). The caller
 * has requested the permission (cov_cpu_permit_amx).
 *
 * Tested without such a CPU (tests/unit/test_gemm_amx.c): each instruction is trapped and executed
 * in C, and the loops run with C in place of the instructions. On a CPU with AMX, test_gemm.c tests
 * this file.
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
#include "common/compute/cpu/kernels/lanes_avx512.h"

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

#include "common/compute/cpu/kernels/gemm_amx_body.h"
#include "common/compute/cpu/kernels/lstm_amx_body.h"
#include "common/compute/cpu/kernels/rows_amx_body.h"

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

#endif
