/* vec_base.c - the element-wise kernels for baseline.
 * SPDX-License-Identifier: MIT */
#define VEC_TABLE cov_vec_base
#define VEC_NAME "baseline"
#define VEC_NEEDS (0)
#define LANES 4
#include "common/compute/cpu/kernels/vec_body.h"
