/* gemm_base.c - products, sums of outer products and transforms of minimal
 * filtering in single precision for any CPU of the architecture.
 * SPDX-License-Identifier: MIT */
#define GEMM_LEVEL base
#define GEMM_NAME "baseline"
#define GEMM_NEEDS (0)
#define LANES 4
#define ROWS 4
#include "common/compute/cpu/kernels/gemm_body.h"

#include "common/compute/cpu/kernels/outer_body.h"
#include "common/compute/cpu/kernels/toom_cook_body.h"
