/* outer_base.c - sums of outer products for any CPU of the architecture.
 * SPDX-License-Identifier: MIT */
#define OUTER_LEVEL base
#define OUTER_NAME "baseline"
#define OUTER_NEEDS (0)
#define LANES 4
#define ROWS 4
#include "common/compute/cpu/kernels/outer_body.h"
