/* int_to_float.h - converts integers of HDF5 files to floats; fast for common coverage values.
 * SPDX-License-Identifier: MIT */
#ifndef COV_H5_INT_TO_FLOAT_H
#define COV_H5_INT_TO_FLOAT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/h5/h5_rows.h"

/* Sets values[0..n) to the n elements at `elems`. The type must be an integer of 4 or 8 bytes in
 * native byte order, and all elements must be in 0 .. 2^24-1, which floats hold exactly; otherwise
 * returns false, and values[] is undefined. */
bool cov_int_to_float(const struct cov_h5_type *type, const void *elems, size_t n, float *values);

/* Returns the number of values before the first one that is not a valid coverage, because it is
 * negative, infinite or NaN. */
size_t cov_count_valid(const float *values, size_t n);

#endif
