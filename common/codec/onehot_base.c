/* onehot_base.c - the kernels of onehot.c for every processor.
 * SPDX-License-Identifier: MIT */
#define ONEHOT_TABLE cov_onehot_base
#define ONEHOT_BYTES 16
#include "common/codec/onehot_private.h"
