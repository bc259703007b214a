/* blob.c - see blob.h.
 * SPDX-License-Identifier: MIT */
#include "common/codec/blob.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

void cov_blob_clear(struct cov_blob *b)
{
    b->n_bytes = 0;
    b->n_pieces = 0;
}

void cov_blob_fini(struct cov_blob *b)
{
    free(b->data);
    free(b->ends);
    *b = (struct cov_blob)COV_BLOB_INIT;
}

int cov_blob_room(struct cov_blob *b, size_t n, uint8_t **at, struct cov_err *e)
{
    size_t need;
    if (cov_size_add(b->n_bytes, n, &need))
        return cov_fail(e, COV_ENOMEM, "out of memory: cannot add %zu bytes to %zu", n, b->n_bytes);
    int rc = COV_RESERVE(&b->data, &b->cap, need ? need : 1, e); /* *at is never NULL + 0 */
    if (rc)
        return rc;
    *at = b->data + b->n_bytes;
    return COV_OK;
}

int cov_blob_end_piece(struct cov_blob *b, size_t n, struct cov_err *e)
{
    assert(n <= b->cap - b->n_bytes);
    int rc = COV_RESERVE(&b->ends, &b->cap_pieces, b->n_pieces + 1, e);
    if (rc)
        return rc;
    b->n_bytes += n;
    b->ends[b->n_pieces++] = b->n_bytes;
    return COV_OK;
}

int cov_blob_copy(struct cov_blob *to, const struct cov_blob *from, struct cov_err *e)
{
    uint8_t *at = NULL;
    cov_blob_clear(to);
    int rc = cov_blob_room(to, from->n_bytes, &at, e);
    if (!rc && from->n_bytes > 0) {
        assert(at);
        memcpy(at, from->data, from->n_bytes);
    }
    for (size_t i = 0, n; !rc && i < from->n_pieces; i++) {
        (void)cov_blob_piece(from, i, &n);
        rc = cov_blob_end_piece(to, n, e);
    }
    return rc;
}

const uint8_t *cov_blob_piece(const struct cov_blob *b, size_t i, size_t *n_bytes)
{
    assert(i < b->n_pieces);
    size_t beg = i ? b->ends[i - 1] : 0;
    *n_bytes = b->ends[i] - beg;
    return b->data + beg;
}
