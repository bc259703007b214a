/* toom_cook_avx512.c - the transforms of minimal filtering for AVX-512.
 * SPDX-License-Identifier: MIT */
#define TOOM_COOK_TABLE cov_toom_cook_avx512
#define TOOM_COOK_NAME "AVX-512"
#define TOOM_COOK_NEEDS (COV_CPU_AVX512F)
#define LANES 16
#include "common/compute/cpu/layers/toom_cook_body.h"
