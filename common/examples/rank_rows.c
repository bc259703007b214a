/* rank_rows.c - see rank_rows.h.
 *
 * A process knows how much memory it has to share only once it has all its rows; until then they
 * are in blocks. They are then moved to windows piece by piece, so that no more than one piece
 * exists twice. Blocks are mapped, since free() may not return memory to the system.
 * SPDX-License-Identifier: MIT */
#include "common/examples/rank_rows.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/mem.h"

enum { BLOCK_BYTES = 1 << 22, MAX_PIECES = 16 };

struct rank_block {
    uint8_t *data;
    size_t used, size;
};

struct cov_rank_rows {
    struct cov_ranks *ranks;
    size_t n_rows;
    size_t *firsts; /* [ranks->n + 1] */
    double *sizes;  /* [n_rows]: bytes of rows of this process; freed by publish */
    size_t *at;     /* [n_rows + 1]: offsets of rows in the concatenation of all rows */
    struct rank_block *blocks;
    size_t n_blocks, cap_blocks;
    size_t piece_bytes; /* of each piece except the last of a process */
    void *windows[MAX_PIECES];
    size_t n_pieces;
    bool in_flight[MAX_PIECES]; /* a transfer was started */
};

int cov_rank_rows_new(struct cov_ranks *ranks, size_t n_rows, const size_t *firsts,
                      struct cov_rank_rows **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_rank_rows *k = cov_calloc(1, sizeof *k, e);
    if (!k)
        return COV_ENOMEM;
    k->ranks = ranks;
    k->n_rows = n_rows;
    k->firsts = cov_malloc(ranks->n + 1, sizeof *k->firsts, e);
    k->sizes = cov_calloc(n_rows, sizeof *k->sizes, e);
    k->at = cov_calloc(n_rows + 1, sizeof *k->at, e);
    if (!k->firsts || !k->sizes || !k->at) {
        cov_rank_rows_free(k);
        return COV_ENOMEM;
    }
    memcpy(k->firsts, firsts, (ranks->n + 1) * sizeof *k->firsts);
    *out = k;
    return COV_OK;
}

static void free_block(struct rank_block *b)
{
    if (b->data)
        (void)munmap(b->data, b->size);
    b->data = NULL;
}

void cov_rank_rows_free(struct cov_rank_rows *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->n_blocks; i++)
        free_block(&k->blocks[i]);
    free(k->blocks);
    free(k->firsts);
    free(k->sizes);
    free(k->at);
    free(k);
}

/* Makes sure that the last block has n free bytes. */
static int make_room(struct cov_rank_rows *k, size_t n, struct cov_err *e)
{
    const struct rank_block *last = k->n_blocks > 0 ? &k->blocks[k->n_blocks - 1] : NULL;
    if (last && n <= last->size - last->used)
        return COV_OK;
    int rc = COV_RESERVE(&k->blocks, &k->cap_blocks, k->n_blocks + 1, e);
    if (rc)
        return rc;
    struct rank_block b = {.size = n > BLOCK_BYTES ? n : BLOCK_BYTES};
    void *data = mmap(NULL, b.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return cov_fail(e, COV_ENOMEM, "out of memory: cannot map %zu bytes for chunks", b.size);
    b.data = data;
    k->blocks[k->n_blocks++] = b;
    return COV_OK;
}

int cov_rank_rows_put(struct cov_rank_rows *k, size_t i, const uint8_t *data, size_t n,
                      struct cov_err *e)
{
    assert(n > 0 && i >= k->firsts[k->ranks->rank] && i < k->firsts[k->ranks->rank + 1]);
    int rc = make_room(k, n, e);
    if (rc)
        return rc;
    struct rank_block *b = &k->blocks[k->n_blocks - 1];
    memcpy(b->data + b->used, data, n);
    b->used += n;
    k->sizes[i] = (double)n;
    return COV_OK;
}

static size_t share_bytes(const struct cov_rank_rows *k, size_t rank)
{
    return k->at[k->firsts[rank + 1]] - k->at[k->firsts[rank]];
}

/* Shares the piece that starts at byte `beg`. The first *done bytes of block **from were shared
 * before. */
static int move_piece(struct cov_rank_rows *k, size_t beg, struct rank_block **from, size_t *done,
                      struct cov_err *e)
{
    size_t n = share_bytes(k, k->ranks->rank), i = k->n_pieces;
    n = n > beg ? n - beg : 0;
    n = n < k->piece_bytes ? n : k->piece_bytes;
    void *base = NULL;
    int rc = cov_ranks_share(k->ranks, n, &k->windows[i], &base, e);
    if (rc)
        return rc;
    k->n_pieces++;
    for (uint8_t *to = base; n > 0;) {
        size_t left = (*from)->used - *done, part = n < left ? n : left;
        memcpy(to, (*from)->data + *done, part);
        to += part;
        n -= part;
        *done += part;
        if (*done == (*from)->used) {
            free_block((*from)++);
            *done = 0;
        }
    }
    return k->ranks->ops->publish(k->windows[i], e);
}

int cov_rank_rows_publish(struct cov_rank_rows *k, struct cov_err *e)
{
    int rc = cov_ranks_sum(k->ranks, k->sizes, k->n_rows, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < k->n_rows; i++)
        k->at[i + 1] = k->at[i] + (size_t)k->sizes[i];
    free(k->sizes);
    k->sizes = NULL;
    size_t most = 0;
    for (size_t i = 0; i < k->ranks->n; i++)
        most = share_bytes(k, i) > most ? share_bytes(k, i) : most;
    k->piece_bytes = (most + MAX_PIECES - 1) / MAX_PIECES;
    if (k->piece_bytes < BLOCK_BYTES)
        k->piece_bytes = BLOCK_BYTES;
    struct rank_block *from = k->blocks;
    size_t done = 0;
    for (size_t beg = 0; !rc && beg < most; beg += k->piece_bytes)
        rc = move_piece(k, beg, &from, &done, e);
    return rc;
}

size_t cov_rank_rows_bytes(const struct cov_rank_rows *k, size_t i)
{
    return k->at[i + 1] - k->at[i];
}

/* Returns the process that has row i: the last one whose share begins at or before it. */
static size_t owner_of(const struct cov_rank_rows *k, size_t i)
{
    size_t low = 0, high = k->ranks->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (k->firsts[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int cov_rank_rows_get(struct cov_rank_rows *k, size_t i, struct cov_blob *row, struct cov_err *e)
{
    size_t n = cov_rank_rows_bytes(k, i), owner = owner_of(k, i);
    size_t at = k->at[i] - k->at[k->firsts[owner]];
    uint8_t *to;
    cov_blob_clear(row);
    int rc = cov_blob_room(row, n, &to, e);
    if (!rc)
        rc = cov_blob_end_piece(row, n, e);
    while (!rc && n > 0) {
        size_t piece = at / k->piece_bytes, in_piece = at % k->piece_bytes;
        size_t left = k->piece_bytes - in_piece, part = n < left ? n : left;
        rc = k->ranks->ops->get(k->windows[piece], owner, in_piece, part, to, e);
        k->in_flight[piece] = true;
        to += part;
        at += part;
        n -= part;
    }
    return rc;
}

int cov_rank_rows_complete(struct cov_rank_rows *k, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < k->n_pieces; i++)
        if (k->in_flight[i]) {
            k->in_flight[i] = false;
            rc = k->ranks->ops->complete(k->windows[i], e);
        }
    return rc;
}
