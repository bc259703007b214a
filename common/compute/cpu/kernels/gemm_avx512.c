/* gemm_avx512.c - single-precision products and sums of outer products for AVX-512.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include "common/compute/cpu/kernels/multiply_avx512.h"

#define GEMM_LEVEL avx512
#define GEMM_NAME "AVX-512"
#define GEMM_NEEDS (COV_CPU_AVX512F)
#define LANES 16
#define ROWS 12
#include "common/compute/cpu/kernels/gemm_body.h"

#include "common/compute/cpu/kernels/outer_body.h"
#endif
