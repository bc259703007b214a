/* vec_base.c - element-wise kernels of prediction and training for any CPU of the architecture.
 * SPDX-License-Identifier: MIT */
#define VEC_NAME "baseline"
#define VEC_NEEDS (0)
#define LANES 4
#include "common/compute/cpu/kernels/vec_body.h"

VEC_TABLE_OF(cov_vec_base, VEC_NAME, VEC_NEEDS, GATES_EXACT)
