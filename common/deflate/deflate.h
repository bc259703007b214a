/* deflate.h - the zlib format (RFC 1950), and the checksums used by zlib, gzip and zip, with
 * libdeflate; and an encoder of our own for records and lines.
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

/* ---- an encoder for records ---- */

/* A deflate encoder (RFC 1951) for data with matches at known distances.
 *
 * A general compressor spends most of its time searching for matches. In data made of records or of
 * lines with columns, matches are one record or line back, so looking at a few distances is enough.
 * The result is an ordinary deflate stream of one block with dynamic Huffman codes. */

/* Literals and matches of a piece of data, in order. Not thread-safe. */
struct cov_tokens {
    uint32_t *list;
    size_t n, cap;
};

/* Prepares *t for pieces of up to n bytes. Free with cov_tokens_fini, which also accepts a
 * zeroed struct. */
int cov_tokens_init(struct cov_tokens *t, size_t n, struct cov_err *e) COV_MUST_USE;
void cov_tokens_fini(struct cov_tokens *t);

/* The following functions divide src[0..n) into tokens; n must not exceed that of
 * cov_tokens_init. They accept any data; data of an unexpected form becomes literals. */

/* Uses the longest match at any of the given distances, each 1 .. 32768. */
void cov_tokens_strides(struct cov_tokens *t, const uint8_t *src, size_t n, const unsigned *dists,
                        size_t n_dists);

/* For blocks of a bigWig: n_head bytes, then records of three little-endian 4-byte words: begin
 * (usually the end of the previous record), end, value. */
void cov_tokens_records(struct cov_tokens *t, const uint8_t *src, size_t n, size_t n_head);

/* For bedGraph: lines of tab-separated columns: a name, a begin (usually the end in the previous
 * line), an end, and more. */
void cov_tokens_lines(struct cov_tokens *t, const uint8_t *src, size_t n);

/* Returns how many bytes cov_tokens_deflate and cov_tokens_zlib need at dst for n bytes of data,
 * including a few bytes of scratch. */
size_t cov_tokens_bound(size_t n);

/* Write the tokens to dst as a deflate stream or as a zlib stream (RFC 1950). src[0..n) is the
 * data of the tokens; if it is shorter uncompressed, it is stored that way. Empty *t. Return the
 * number of bytes written. */
size_t cov_tokens_deflate(struct cov_tokens *t, const uint8_t *src, size_t n, uint8_t *dst);
size_t cov_tokens_zlib(struct cov_tokens *t, const uint8_t *src, size_t n, uint8_t *dst);

#endif
