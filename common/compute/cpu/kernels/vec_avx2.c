/* vec_avx2.c - element-wise kernels of prediction and training for AVX2.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>

#define VEC_NAME "AVX2"
#define VEC_NEEDS (COV_CPU_AVX2 | COV_CPU_FMA)
#define LANES 8
#define FUSED(a, b, c) ((vec)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define LEAST(a, b) ((vec)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define MOST(a, b) ((vec)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define ANY(v) (!_mm256_testz_si256((__m256i)(v), (__m256i)(v)))
#include "common/compute/cpu/kernels/vec_body.h"

VEC_TABLE_OF(cov_vec_avx2, VEC_NAME, VEC_NEEDS, GATES_EXACT)
#endif
