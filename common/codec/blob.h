/* blob.h - a growable buffer of encoded pieces, which is reused for each chunk.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_BLOB_H
#define COV_CODEC_BLOB_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Pieces are contiguous: piece i is data[ends[i-1] .. ends[i]), with ends[-1] = 0. The space after
 * n_bytes may be used as scratch. */
struct cov_blob {
    uint8_t *data;
    size_t n_bytes, cap;
    size_t *ends;
    size_t n_pieces, cap_pieces;
};

#define COV_BLOB_INIT                                                                              \
    {                                                                                              \
        0, 0, 0, 0, 0, 0                                                                           \
    }

void cov_blob_clear(struct cov_blob *b); /* keeps the memory */
void cov_blob_fini(struct cov_blob *b);

/* Makes room for n more bytes at the end, uninitialised, and sets *at to their address, which is
 * valid until the next call. */
int cov_blob_room(struct cov_blob *b, size_t n, uint8_t **at, struct cov_err *e) COV_MUST_USE;

/* Adds a piece: the n bytes that the caller wrote to *at. n is at most the number requested. */
int cov_blob_end_piece(struct cov_blob *b, size_t n, struct cov_err *e) COV_MUST_USE;

/* Replaces the pieces of *to by those of *from, in no more memory than they need: the scratch space
 * of *from is not copied. */
int cov_blob_copy(struct cov_blob *to, const struct cov_blob *from, struct cov_err *e) COV_MUST_USE;

/* Returns piece i < n_pieces. Borrowed until the next call that changes *b. */
const uint8_t *cov_blob_piece(const struct cov_blob *b, size_t i, size_t *n_bytes);

#endif
