/* toom_cook_base.c - the transforms of minimal filtering for any CPU of the architecture.
 * SPDX-License-Identifier: MIT */
#define TOOM_COOK_TABLE cov_toom_cook_base
#define TOOM_COOK_NAME "baseline"
#define TOOM_COOK_NEEDS (0)
#define LANES 4
#include "common/compute/cpu/layers/toom_cook_body.h"
