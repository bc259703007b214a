/* gemm_avx512bf16.c - matrix products with VDPBF16PS (AVX-512 BF16: Zen 4, Cooper Lake, Sapphire
 * Rapids and later).
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>

#define DOT(sums, a, b) ((floats)_mm512_dpbf16_ps((__m512)(sums), (__m512bh)(a), (__m512bh)(b)))
#include "common/compute/cpu/kernels/gemm_dot_body.h"

#define NEEDS (COV_CPU_AVX512F | COV_CPU_AVX512BW | COV_CPU_AVX512VL | COV_CPU_AVX512_BF16)

const struct cov_gemm cov_gemm_dot_bf16 = {.name = "AVX-512 BF16",
                                           .needs = NEEDS,
                                           .lanes = PAIRS_LANES,
                                           .width = PAIRS_PANEL,
                                           .run = dot_bf16,
                                           .pack = cov_gemm_pack_pairs,
                                           .arithmetic = COV_BF16,
                                           .k_unit = DOT_UNIT};

#endif
