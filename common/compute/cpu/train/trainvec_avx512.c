/* trainvec_avx512.c - the element-wise kernels of training for AVX-512.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>

#define TRAINVEC_TABLE cov_trainvec_avx512
#define TRAINVEC_NAME "AVX-512"
#define TRAINVEC_NEEDS (COV_CPU_AVX512F | COV_CPU_AVX512DQ | COV_CPU_AVX512BW | COV_CPU_AVX512VL)
#define LANES 16
#define FUSED(a, b, c) ((vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define LEAST(a, b) ((vec)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define MOST(a, b) ((vec)_mm512_max_ps((__m512)(a), (__m512)(b)))
#include "common/compute/cpu/train/trainvec_body.h"
#endif
