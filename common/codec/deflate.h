/* deflate.h - the zlib format (RFC 1950), and the checksums of zlib, gzip and zip, by libdeflate.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_DEFLATE_H
#define COV_CODEC_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* The most bytes that cov_deflate writes for n bytes. */
size_t cov_deflate_bound(size_t n);

/* dst[0..*n_dst) = src as a zlib stream. level 1..12; cap at least cov_deflate_bound(n). */
int cov_deflate(int level, const void *src, size_t n, void *dst, size_t cap, size_t *n_dst,
                struct cov_err *e) COV_MUST_USE;

/* dst[0..n_dst) = the contents of the zlib stream at src. COV_EINPUT if it is damaged or has more or fewer bytes. */
int cov_inflate(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e) COV_MUST_USE;

/* The same if the number of bytes, *n_dst <= cap, is unknown. */
int cov_inflate_most(const void *src, size_t n, void *dst, size_t cap, size_t *n_dst,
                     struct cov_err *e) COV_MUST_USE;

/* Continues a CRC-32 (0: starts one) with the n bytes at `data`. */
uint32_t cov_crc32(uint32_t crc, const void *data, size_t n);

/* The Adler-32 of the n bytes at `data`, the checksum at the end of a zlib stream. */
uint32_t cov_adler32(const void *data, size_t n);

/* libdeflate's version, for --version. */
const char *cov_deflate_version(void);

#endif
