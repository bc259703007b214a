/* deflate.h - the zlib format (RFC 1950), and the checksums used by zlib, gzip and zip, with
 * libdeflate.
 * SPDX-License-Identifier: MIT */
#ifndef COV_DEFLATE_DEFLATE_H
#define COV_DEFLATE_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Returns the most bytes that cov_deflate writes for n bytes. */
size_t cov_deflate_bound(size_t n);

/* Compresses src to a zlib stream in dst[0..*n_dst). `level` is 1..12, `cap` at least
 * cov_deflate_bound(n). */
int cov_deflate(int level, const void *src, size_t n, void *dst, size_t cap, size_t *n_dst,
                struct cov_err *e) COV_MUST_USE;

/* Decompresses the zlib stream src to dst[0..n_dst). Fails with COV_EINPUT if the stream is
 * damaged or its contents are longer or shorter than n_dst bytes. */
int cov_inflate(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e) COV_MUST_USE;

/* Does the same if the size of the contents is unknown: sets *n_dst <= cap to it. */
int cov_inflate_most(const void *src, size_t n, void *dst, size_t cap, size_t *n_dst,
                     struct cov_err *e) COV_MUST_USE;

/* Continues the CRC-32 `crc` (0: starts a new one) with the n bytes at `data`. */
uint32_t cov_crc32(uint32_t crc, const void *data, size_t n);

/* Returns the Adler-32 of the n bytes at `data`, which is the checksum at the end of a zlib
 * stream. */
uint32_t cov_adler32(const void *data, size_t n);

/* Returns libdeflate's version, for --version. */
const char *cov_deflate_version(void);

#endif
