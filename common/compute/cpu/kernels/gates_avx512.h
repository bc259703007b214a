/* gates_avx512.h - vectors of 16 floats, and exponentials and reciprocals of gates that are not
 * GATES_EXACT, for the bodies of element-wise kernels (vec_gates.h) on CPUs with AVX-512 that divide
 * 16 floats in 16 cycles, as Intel's do. There, divisions take most of the time of gates; an
 * approximate reciprocal and a step of Newton's method take 3 cycles.
 * SPDX-License-Identifier: MIT */
#include <immintrin.h>

#define LANES 16
#define FUSED(a, b, c) ((vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define LEAST(a, b) ((vec)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define MOST(a, b) ((vec)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define ANY(v) (_mm512_test_epi32_mask((__m512i)(v), (__m512i)(v)) != 0)

#define RECIPROCAL(x) ((vec)cov_reciprocal((__m512)(x)))
#define ROUGH_RECIPROCAL(x) ((vec)_mm512_rcp14_ps((__m512)(x)))
#define EXP2(rough, x) ((vec)cov_exp2(rough, (__m512)(x)))

static inline __m512 cov_reciprocal(__m512 x)
{
    __m512 r = _mm512_rcp14_ps(x);
    return _mm512_fmadd_ps(_mm512_fnmadd_ps(x, r, _mm512_set1_ps(1.0f)), r, r);
}

/* Polynomials between powers of 2, which are exact; relative errors 3.0e-6 and 1.6e-7. */
static inline __attribute__((always_inline)) __m512 cov_exp2(const _Bool rough, __m512 x)
{
    enum { FROM_FLOOR = 0x09, MOST = 5 };
    static const float close[MOST] = {1.867130213e-3f, 9.017030019e-3f, 5.579991332e-2f,
                                      2.401644501e-1f, 6.931513118e-1f},
                       few[MOST] = {0, 1.342668553e-2f, 5.224247220e-2f, 2.412802057e-1f,
                                    6.930448448e-1f};
    const float *of = rough ? few : close;
    __m512 r = _mm512_reduce_ps(x, FROM_FLOOR), p = _mm512_set1_ps(of[rough]);
#pragma GCC unroll 8
    for (int i = rough + 1; i < MOST; i++)
        p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(of[i]));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, x);
}
