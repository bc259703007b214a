/* vec_avx512.c - the element-wise kernels for AVX-512.
 * SPDX-License-Identifier: MIT */
#define VEC_TABLE cov_vec_avx512
#define VEC_NAME "AVX-512"
#define VEC_NEEDS (COV_CPU_AVX512F | COV_CPU_AVX512DQ | COV_CPU_AVX512BW | COV_CPU_AVX512VL)
#include "common/compute/cpu/vec_body.h"
