/* zstd.h - HDF5's filter 32015: a chunk as one frame of Zstandard (RFC 8878) that tells its size.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_ZSTD_H
#define COV_CODEC_ZSTD_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* dst[0..*n_dst) = src compressed, with room for n bytes at dst. *n_dst = 0: not smaller. level
 * 1..19. The frame has a checksum of its contents. */
int cov_zstd_encode(int level, const void *src, size_t n, void *dst, size_t *n_dst,
                    struct cov_err *e) COV_MUST_USE;

/* dst[0..n_dst) = the contents of src. COV_EINPUT when it is damaged or has another size. */
int cov_zstd_decode(const void *src, size_t n, void *dst, size_t n_dst,
                    struct cov_err *e) COV_MUST_USE;

/* The size that the head of src claims; 0 when there is none. */
uint64_t cov_zstd_claim(const void *src, size_t n);

/* Zstandard's version, for --version. */
const char *cov_zstd_version(void);

#endif
