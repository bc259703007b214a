/* tokens.h - deflate (RFC 1951) of data whose repetitions are where its form puts them.
 *
 * A compressor for any data looks for repetitions in tables of what came before, which is most of
 * its work. In records and in lines of columns they stand one record or line back, at few
 * distances: there it is enough to look. The result is deflate as any other, of one block with
 * codes of its own.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_TOKENS_H
#define COV_CODEC_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Literals and matches of one piece of data, in order. One thread at a time. */
struct cov_tokens {
    uint32_t *list;
    size_t n, cap;
};

/* Room for pieces of up to n bytes. Free with cov_tokens_fini; all zero is an empty one. */
int cov_tokens_init(struct cov_tokens *t, size_t n, struct cov_err *e) COV_MUST_USE;
void cov_tokens_fini(struct cov_tokens *t);

/* These cut src[0..n), n <= the room, into tokens. Data of another form is cut as well, but into
 * literals. */

/* Takes the longest match at one of the distances, 1 .. 32768. */
void cov_tokens_strides(struct cov_tokens *t, const uint8_t *src, size_t n, const unsigned *dists,
                        size_t n_dists);

/* Behind n_head bytes stand records of three words of 4 bytes, little-endian: a begin, which is the
 * end of the record before, an end, a value. Blocks of a bigWig. */
void cov_tokens_records(struct cov_tokens *t, const uint8_t *src, size_t n, size_t n_head);

/* Lines with a name, a begin, which is the end of the line before, an end and more, with tabs
 * between them: bedGraph. */
void cov_tokens_lines(struct cov_tokens *t, const uint8_t *src, size_t n);

/* Bytes that cov_tokens_deflate or cov_tokens_zlib need for n bytes of data; a few of them are
 * scratch. */
size_t cov_tokens_bound(size_t n);

/* dst = the tokens as deflate, or as a zlib stream (RFC 1950). src[0..n) is the data they stand
 * for, which is stored as it is when that is shorter. Empties *t. The number of bytes. */
size_t cov_tokens_deflate(struct cov_tokens *t, const uint8_t *src, size_t n, uint8_t *dst);
size_t cov_tokens_zlib(struct cov_tokens *t, const uint8_t *src, size_t n, uint8_t *dst);

#endif
