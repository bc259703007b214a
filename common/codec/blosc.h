/* blosc.h - HDF5's filter 32001: a chunk as one buffer of Blosc 1, which shuffles for itself.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_BLOSC_H
#define COV_CODEC_BLOSC_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* dst[0..*n_dst) = src compressed by Blosc with Zstandard in it, with room for n bytes at dst.
 * *n_dst = 0: not smaller. level 1..9. elem_bytes: of an element, for the shuffle; 0: none. */
int cov_blosc_encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst,
                     size_t *n_dst, struct cov_err *e) COV_MUST_USE;

/* dst[0..n_dst) = the contents of src, whatever compressor and shuffle are in it. COV_EINPUT when
 * it is damaged or has another size; COV_EUNSUPPORTED for a compressor that this libblosc lacks. */
int cov_blosc_decode(const void *src, size_t n, void *dst, size_t n_dst,
                     struct cov_err *e) COV_MUST_USE;

/* The size that the head of src claims; 0 when there is none. */
uint64_t cov_blosc_claim(const void *src, size_t n);

/* values[0..7) = the parameters that the filter has in a file: version of the filter and of Blosc's
 * format, bytes of an element and of a chunk, level, shuffle (0, 1, or 2 for bits), compressor.
 * Returns how many. */
size_t cov_blosc_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values);

/* Blosc's version, for --version. */
const char *cov_blosc_version(void);

#endif
