/* gemm_avx2.c - products, sums of outer products and transforms of minimal
 * filtering in single precision for AVX2.
 * SPDX-License-Identifier: MIT */
#define GEMM_LEVEL avx2
#define GEMM_NAME "AVX2"
#define GEMM_NEEDS (COV_CPU_AVX2 | COV_CPU_FMA)
#define LANES 8
#define ROWS 6
#include "common/compute/cpu/kernels/gemm_body.h"

#include "common/compute/cpu/kernels/outer_body.h"
#include "common/compute/cpu/kernels/toom_cook_body.h"
