/* trainvec_base.c - element-wise kernels of training for any CPU of the architecture.
 * SPDX-License-Identifier: MIT */
#define TRAINVEC_TABLE cov_trainvec_base
#define TRAINVEC_NAME "baseline"
#define TRAINVEC_NEEDS (0)
#define LANES 4
#include "common/compute/cpu/train/trainvec_body.h"
