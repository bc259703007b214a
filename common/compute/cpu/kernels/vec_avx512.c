/* vec_avx512.c - element-wise kernels of prediction and training for AVX-512.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>

#define VEC_TABLE cov_vec_avx512
#define TRAINVEC_TABLE cov_trainvec_avx512
#define VEC_NAME "AVX-512"
#define VEC_NEEDS (COV_CPU_AVX512F | COV_CPU_AVX512DQ | COV_CPU_AVX512BW | COV_CPU_AVX512VL)
#define LANES 16
#define FUSED(a, b, c) ((vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define LEAST(a, b) ((vec)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define MOST(a, b) ((vec)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define ANY(v) (_mm512_test_epi32_mask((__m512i)(v), (__m512i)(v)) != 0)
#include "common/compute/cpu/kernels/trainvec_body.h"
#include "common/compute/cpu/kernels/vec_body.h"
#endif
