/* minimal_base.c - the transforms of minimal filtering for any CPU of the architecture.
 * SPDX-License-Identifier: MIT */
#define MINIMAL_TABLE cov_minimal_base
#define MINIMAL_NAME "baseline"
#define MINIMAL_NEEDS (0)
#define LANES 4
#include "common/compute/cpu/layers/minimal_body.h"
