/* vec_avx512.c - element-wise kernels of prediction and training for AVX-512.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#define VEC_TABLE cov_vec_avx512
#define TRAINVEC_TABLE cov_trainvec_avx512
#define VEC_NAME "AVX-512"
#define VEC_NEEDS (COV_CPU_AVX512F | COV_CPU_AVX512DQ | COV_CPU_AVX512BW | COV_CPU_AVX512VL)
#include "common/compute/cpu/kernels/lanes_avx512.h"
#include "common/compute/cpu/kernels/trainvec_body.h"
#include "common/compute/cpu/kernels/vec_body.h"
#endif
