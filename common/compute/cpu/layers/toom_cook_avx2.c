/* toom_cook_avx2.c - the transforms of minimal filtering for AVX2.
 * SPDX-License-Identifier: MIT */
#define TOOM_COOK_TABLE cov_toom_cook_avx2
#define TOOM_COOK_NAME "AVX2"
#define TOOM_COOK_NEEDS (COV_CPU_AVX2 | COV_CPU_FMA)
#define LANES 8
#include "common/compute/cpu/layers/toom_cook_body.h"
