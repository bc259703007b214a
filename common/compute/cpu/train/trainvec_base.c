/* trainvec_base.c - the element-wise kernels of training for baseline.
 * SPDX-License-Identifier: MIT */
#define TRAINVEC_TABLE cov_trainvec_base
#define TRAINVEC_NAME "baseline"
#define TRAINVEC_NEEDS (0)
#define LANES 4
#include "common/compute/cpu/train/trainvec_body.h"
