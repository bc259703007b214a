/* onehot_base.c - the inner loops of the one-hot encoder for all processors.
 * SPDX-License-Identifier: MIT */
#define ONEHOT_TABLE cov_onehot_base
#define ONEHOT_BYTES 16
#include "common/deflate/onehot_kern.h"
