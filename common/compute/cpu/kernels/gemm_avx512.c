/* gemm_avx512.c - products, sums of outer products and transforms of minimal
 * filtering in single precision for AVX-512.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
/* How gemm_body.h multiplies and adds: see MULTIPLY there. */
#include <immintrin.h>

typedef __m512 lanes;
#define EVERY_LANE(p) _mm512_set1_ps(*(p))
/* In assembly, because the compiler writes sums to other registers and copies them back. */
#define MULTIPLY(sum, left, right)                                                                 \
    __asm__ volatile("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right))
#define MULTIPLY_FLOAT(sum, left, right)                                                           \
    __asm__ volatile("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(right), "m"(left))

#define GEMM_LEVEL avx512
#define GEMM_NAME "AVX-512"
#define GEMM_NEEDS (COV_CPU_AVX512F)
#define LANES 16
#define ROWS 12
#include "common/compute/cpu/kernels/gemm_body.h"

#include "common/compute/cpu/kernels/outer_body.h"
#include "common/compute/cpu/kernels/toom_cook_body.h"
#endif
