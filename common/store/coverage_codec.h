/* coverage_codec.h - rows of measured coverage as they are stored: integers of 2, 4 or 8 bytes, -1
 * behind the end of the chunk, shuffle and LZF, as in Helixer's files, which h5py reads. Any
 * thread.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_COVERAGE_CODEC_H
#define COV_STORE_COVERAGE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/codec/codec.h"

/* filters[] = those of a data set of such elements; returns how many. */
size_t cov_coverage_filters(size_t elem_bytes, struct cov_filter filters[3]);

/* Adds a piece to *out: values[0..n) of a row of L elements. COV_EINPUT for a value that elements
 * of elem_bytes cannot hold, naming its index. */
int cov_coverage_encode(const int64_t *values, size_t n, size_t L, size_t elem_bytes,
                        struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* The same of values 0 <= depth[i] <= max, in reverse order on the - strand; max must fit. depth
 * may be NULL if max is 0. */
int cov_coverage_encode_depth(const int32_t *depth, int32_t max, size_t n, bool minus, size_t L,
                              size_t elem_bytes, struct cov_blob *out,
                              struct cov_err *e) COV_MUST_USE;

/* values[0..n) = those of piece `i` of *pieces, behind which is the scratch. */
int cov_coverage_decode_piece(struct cov_blob *pieces, size_t i, size_t n, size_t L,
                              size_t elem_bytes, int64_t *values, struct cov_err *e) COV_MUST_USE;

#endif
