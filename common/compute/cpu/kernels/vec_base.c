/* vec_base.c - element-wise kernels for any CPU of the architecture.
 * SPDX-License-Identifier: MIT */
#define VEC_TABLE cov_vec_base
#define VEC_NAME "baseline"
#define VEC_NEEDS (0)
#define LANES 4
#include "common/compute/cpu/kernels/vec_body.h"
