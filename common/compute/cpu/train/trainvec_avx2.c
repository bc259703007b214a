/* trainvec_avx2.c - the element-wise kernels of training for AVX2.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>

#define TRAINVEC_TABLE cov_trainvec_avx2
#define TRAINVEC_NAME "AVX2"
#define TRAINVEC_NEEDS (COV_CPU_AVX2 | COV_CPU_FMA)
#define LANES 8
#define FUSED(a, b, c) ((vec)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define LEAST(a, b) ((vec)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define MOST(a, b) ((vec)_mm256_max_ps((__m256)(a), (__m256)(b)))
#include "common/compute/cpu/train/trainvec_body.h"
#endif
