/* outer_avx2.c - sums of outer products for AVX2.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#define OUTER_LEVEL avx2
#define OUTER_NAME "AVX2"
#define OUTER_NEEDS (COV_CPU_AVX2 | COV_CPU_FMA)
#define LANES 8
#define ROWS 6
#include "common/compute/cpu/kernels/outer_body.h"
#endif
