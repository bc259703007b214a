/* vec_avx2.c - the element-wise kernels for AVX2.
 * SPDX-License-Identifier: MIT */
#define VEC_TABLE cov_vec_avx2
#define VEC_NAME "AVX2"
#define VEC_NEEDS (COV_CPU_AVX2 | COV_CPU_FMA)
#include "common/compute/cpu/vec_body.h"
