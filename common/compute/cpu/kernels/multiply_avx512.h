/* multiply_avx512.h - how the loops of products multiply and add on AVX-512; included by the file of
 * that instruction set of each (gemm_body.h says what the names mean).
 * SPDX-License-Identifier: MIT */
#include <immintrin.h>

typedef __m512 lanes;
#define EVERY_LANE(p) _mm512_set1_ps(*(p))
/* The compiler writes sums to other registers and copies them back. */
#define MULTIPLY(sum, left, right)                                                                 \
    __asm__ volatile("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right))
#define MULTIPLY_FLOAT(sum, left, right)                                                           \
    __asm__ volatile("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(right), "m"(left))
