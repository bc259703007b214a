/* gemm_avx512inner.c - Winograd's inner product for Zen 4: arithmetic instructions broadcast a
 * float of `a` from memory for free, whereas a separate broadcast occupies an adder.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#define INNER_SHARES 0
#define INNER_TABLE cov_gemm_avx512_inner
#define INNER_NAME "AVX-512 with adders"
#define INNER_NEEDS (COV_CPU_AVX512F | COV_CPU_ADDERS)
#include "common/compute/cpu/kernels/gemm_inner_body.h"

#define OUTER_TABLE cov_outer_avx512_inner
#include "common/compute/cpu/kernels/outer_inner_body.h"
#endif
