/* minimal_avx512.c - the transforms of minimal filtering for AVX-512.
 * SPDX-License-Identifier: MIT */
#define MINIMAL_TABLE cov_minimal_avx512
#define MINIMAL_NAME "AVX-512"
#define MINIMAL_NEEDS (COV_CPU_AVX512F)
#define LANES 16
#include "common/compute/cpu/layers/minimal_body.h"
