/* gemm_avx512bf16.c - matrix products with VDPBF16PS (AVX-512 BF16: Zen 4, Cooper Lake, Sapphire
 * Rapids and later).
 *
 * Written on a CPU that lacks the instruction: it was built and disassembled, and its loops were
 * tested with C in the place of the instruction (tests/unit/test_gemm_dot.c; test_gemm.c tests it
 * itself where it can run), but as it stands it has not been run, and how fast it is has not been
 * measured.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>

#define DOT(sums, a, b) ((floats)_mm512_dpbf16_ps((__m512)(sums), (__m512bh)(a), (__m512bh)(b)))
#include "common/compute/cpu/gemm_dot_body.h"

#define NEEDS (COV_CPU_AVX512F | COV_CPU_AVX512BW | COV_CPU_AVX512VL | COV_CPU_AVX512_BF16)

const struct cov_gemm cov_gemm_dot_bf16 = {"AVX-512 BF16", NEEDS,    PAIRS_LANES, PAIRS_PANEL,
                                           dot_bf16,       COV_BF16, DOT_UNIT};
const struct cov_gemm cov_gemm_dot_bf16x3 = {"AVX-512 BF16", NEEDS,      PAIRS_LANES, PAIRS_PANEL,
                                             dot_bf16x3,     COV_BF16X3, DOT_UNIT};

#endif
