/* multiply_avx512.h - multiplying and adding in the inner loops of products on AVX-512; see
 * MULTIPLY in gemm_body.h.
 * SPDX-License-Identifier: MIT */
#include <immintrin.h>

typedef __m512 lanes;
#define EVERY_LANE(p) _mm512_set1_ps(*(p))
/* In assembly, because the compiler writes sums to other registers and copies them back. */
#define MULTIPLY(sum, left, right)                                                                 \
    __asm__ volatile("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right))
#define MULTIPLY_FLOAT(sum, left, right)                                                           \
    __asm__ volatile("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(right), "m"(left))
