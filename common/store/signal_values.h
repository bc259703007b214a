/* signal_values.h - elements of a row to values along a chunk, for files and streams of signal. Any
 * thread.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_SIGNAL_VALUES_H
#define COV_STORE_SIGNAL_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "common/store/h5_rows.h"

/* values[t] = the mean, in double, of columns [col, col + n_cols) at position t < n of
 * elems[n][n_all], rounded to float. Returns the first t whose value is no coverage: negative, NaN
 * or infinite; n if there is none. */
size_t cov_signal_values(const struct cov_h5_type *type, const uint8_t *elems, size_t n,
                         size_t n_all, size_t col, size_t n_cols, float *values);

/* The length of <prefix> in the name "<prefix>_coverage" of measured coverage, or 0; spliced
 * coverage is another thing. */
size_t cov_signal_prefix(const char *name);

#endif
