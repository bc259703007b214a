/* int_to_float.h - whole numbers of HDF5 files as floats, where they are coverage as it usually is:
 * quickly.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_INT_TO_FLOAT_H
#define COV_STORE_INT_TO_FLOAT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/store/h5_rows.h"

/* values[0..n) = the n elements at `elems`, provided that the type is one of 4 or 8 bytes in the
 * order of this machine and all of them are in 0 .. 2^24-1, which floats hold exactly. Whether that
 * is so; otherwise values[] is anything. */
bool cov_int_to_float(const struct cov_h5_type *type, const void *elems, size_t n, float *values);

/* How many of values[0..n) before the first that is not a valid coverage: negative, infinite or no number. */
size_t cov_count_valid(const float *values, size_t n);

#endif
