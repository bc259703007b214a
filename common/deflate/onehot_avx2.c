/* onehot_avx2.c - the inner loops of the one-hot encoder for AVX2 and BMI2.
 * SPDX-License-Identifier: MIT */
#define ONEHOT_TABLE cov_onehot_avx2
#define ONEHOT_BYTES 32
#include "common/deflate/onehot_kern.h"
