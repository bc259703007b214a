/* gemm_amx.c - matrix products with TDPBF16PS on tiles (AMX: Sapphire Rapids and later). The caller
 * has requested the permission (cov_cpu_permit_amx).
 *
 * Tested without such a CPU (tests/unit/test_gemm_amx.c): each instruction is trapped and executed
 * in C, and the loops run with C in place of the instructions. On a CPU with AMX, test_gemm.c tests
 * this file. Its speed has not been measured.
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
#include "common/compute/cpu/kernels/gemm_amx_body.h"

#define NEEDS                                                                                      \
    (COV_CPU_AVX512F | COV_CPU_AVX512BW | COV_CPU_AVX512VL | COV_CPU_AMX_TILE | COV_CPU_AMX_BF16)

const struct cov_gemm cov_gemm_amx_bf16 = {.name = "AMX",
                                           .needs = NEEDS,
                                           .lanes = PAIRS_LANES,
                                           .width = PAIRS_PANEL,
                                           .run = amx_bf16,
                                           .pack = cov_gemm_pack_pairs,
                                           .arithmetic = COV_BF16,
                                           .k_unit = TILE_UNIT};
const struct cov_gemm cov_gemm_amx_bf16x3 = {.name = "AMX",
                                             .needs = NEEDS,
                                             .lanes = PAIRS_LANES,
                                             .width = PAIRS_PANEL,
                                             .run = amx_bf16x3,
                                             .pack = cov_gemm_pack_pairs,
                                             .arithmetic = COV_BF16X3,
                                             .k_unit = TILE_UNIT};

#endif
