/* gemm_base.c - matrix products for baseline.
 * SPDX-License-Identifier: MIT */
#define GEMM_TABLE cov_gemm_base
#define GEMM_NAME "baseline"
#define GEMM_NEEDS (0)
#define LANES 4
#define ROWS 4
#include "common/compute/cpu/gemm_body.h"
