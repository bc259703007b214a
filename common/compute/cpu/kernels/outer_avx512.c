/* outer_avx512.c - sums of outer products for AVX-512.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include "common/compute/cpu/kernels/multiply_avx512.h"

#define OUTER_LEVEL avx512
#define OUTER_NAME "AVX-512"
#define OUTER_NEEDS (COV_CPU_AVX512F)
#define LANES 16
#define ROWS 12
#include "common/compute/cpu/kernels/outer_body.h"
#endif
