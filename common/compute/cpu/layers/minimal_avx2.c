/* minimal_avx2.c - the transforms of minimal filtering for AVX2.
 * SPDX-License-Identifier: MIT */
#define MINIMAL_TABLE cov_minimal_avx2
#define MINIMAL_NAME "AVX2"
#define MINIMAL_NEEDS (COV_CPU_AVX2 | COV_CPU_FMA)
#define LANES 8
#include "common/compute/cpu/layers/minimal_body.h"
