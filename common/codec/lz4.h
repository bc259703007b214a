/* lz4.h - HDF5's filter 32004: a chunk as blocks of LZ4.
 *
 * The form is that of the HDF5 LZ4 plugin, all numbers big-endian: 8 bytes with the size of the
 * chunk, 4 with that of a block; then each block (the last may be shorter): 4 bytes with its
 * compressed size, and its bytes, which are the plain ones when that is the size of the block.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_LZ4_H
#define COV_CODEC_LZ4_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* dst[0..*n_dst) = src compressed, with room for n bytes at dst. *n_dst = 0: not smaller. */
int cov_lz4_encode(const void *src, size_t n, void *dst, size_t *n_dst,
                   struct cov_err *e) COV_MUST_USE;

/* dst[0..n_dst) = the contents of src. COV_EINPUT when it is damaged or has another size. */
int cov_lz4_decode(const void *src, size_t n, void *dst, size_t n_dst,
                   struct cov_err *e) COV_MUST_USE;

/* The size that the head of src claims; 0 when there is none. */
uint64_t cov_lz4_claim(const void *src, size_t n);

/* LZ4's version, for --version. */
const char *cov_lz4_version(void);

#endif
