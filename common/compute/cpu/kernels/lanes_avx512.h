/* lanes_avx512.h - vectors of 16 floats, for the bodies of element-wise kernels (vec_gates.h).
 * SPDX-License-Identifier: MIT */
#include <immintrin.h>

#define LANES 16
#define FUSED(a, b, c) ((vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define LEAST(a, b) ((vec)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define MOST(a, b) ((vec)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define ANY(v) (_mm512_test_epi32_mask((__m512i)(v), (__m512i)(v)) != 0)
