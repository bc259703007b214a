/* h5_retype.h - elements of one numeric type as another, without loss or not at all.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_H5_RETYPE_H
#define COV_STORE_H5_RETYPE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/store/h5_rows.h"

/* dst[0..n), of type `to`, = src[0..n), of type `from`: INT or FLOAT, little-endian, FLOATs of `to`
 * of 4 or 8 bytes. Returns n, or the index of the first value that `to` cannot hold exactly; a NaN
 * is a float's only. */
size_t cov_h5_retype(const struct cov_h5_type *from, const void *src, size_t n,
                     const struct cov_h5_type *to, void *dst);

/* That element as text, for messages. */
void cov_h5_print_element(const struct cov_h5_type *type, const void *src, char *text, size_t size);

#endif
