/* loader_memory.c - see loader_memory.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/predict/loader_memory.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/seq/alphabet.h"

/* ---------------------------------------------------------------- rows as they are stored */

/* Rows are contiguous in blocks of this size; a longer row gets its own block. */
enum { BLOCK_BYTES = 1 << 22 };

struct row {
    const uint8_t *data;
    size_t n_bytes;
    size_t first_end; /* index into `ends` */
    size_t n_pieces;
};

struct cov_kept_rows {
    struct row *rows;
    size_t n_rows;
    size_t *ends; /* ends of pieces, as in a blob */
    size_t n_ends, cap_ends;
    uint8_t **blocks;
    size_t n_blocks, cap_blocks;
    size_t used, size; /* of the last block */
};

int cov_kept_rows_new(size_t n_rows, struct cov_kept_rows **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_kept_rows *k = cov_calloc(1, sizeof *k, e);
    if (!k)
        return COV_ENOMEM;
    k->n_rows = n_rows;
    k->rows = cov_calloc(n_rows, sizeof *k->rows, e);
    if (!k->rows) {
        cov_kept_rows_free(k);
        return COV_ENOMEM;
    }
    *out = k;
    return COV_OK;
}

void cov_kept_rows_free(struct cov_kept_rows *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->n_blocks; i++)
        free(k->blocks[i]);
    free(k->blocks);
    free(k->ends);
    free(k->rows);
    free(k);
}

/* Makes sure that the last block has n free bytes. */
static int make_room(struct cov_kept_rows *k, size_t n, struct cov_err *e)
{
    if (k->n_blocks > 0 && n <= k->size - k->used)
        return COV_OK;
    int rc = COV_RESERVE(&k->blocks, &k->cap_blocks, k->n_blocks + 1, e);
    if (rc)
        return rc;
    size_t size = n > BLOCK_BYTES ? n : BLOCK_BYTES;
    k->blocks[k->n_blocks] = cov_malloc(size, 1, e);
    if (!k->blocks[k->n_blocks])
        return COV_ENOMEM;
    k->n_blocks++;
    k->used = 0;
    k->size = size;
    return COV_OK;
}

int cov_kept_rows_put(struct cov_kept_rows *k, size_t i, const struct cov_blob *row,
                      struct cov_err *e)
{
    int rc = make_room(k, row->n_bytes, e);
    if (rc)
        return rc;
    rc = COV_RESERVE(&k->ends, &k->cap_ends, k->n_ends + row->n_pieces, e);
    if (rc)
        return rc;
    uint8_t *data = k->blocks[k->n_blocks - 1] + k->used;
    if (row->n_bytes > 0)
        memcpy(data, row->data, row->n_bytes);
    if (row->n_pieces > 0)
        memcpy(k->ends + k->n_ends, row->ends, row->n_pieces * sizeof *k->ends);
    k->rows[i] = (struct row){data, row->n_bytes, k->n_ends, row->n_pieces};
    k->used += row->n_bytes;
    k->n_ends += row->n_pieces;
    return COV_OK;
}

int cov_kept_rows_get(const struct cov_kept_rows *k, size_t i, struct cov_blob *row,
                      struct cov_err *e)
{
    const struct row *r = &k->rows[i];
    size_t beg = 0;
    cov_blob_clear(row);
    for (size_t j = 0; j < r->n_pieces; j++) {
        size_t end = k->ends[r->first_end + j];
        uint8_t *at;
        int rc = cov_blob_room(row, end - beg, &at, e);
        if (rc)
            return rc;
        if (end > beg)
            memcpy(at, r->data + beg, end - beg);
        rc = cov_blob_end_piece(row, end - beg, e);
        if (rc)
            return rc;
        beg = end;
    }
    return COV_OK;
}

/* ---------------------------------------------------------------- codes */

struct cov_kept_codes {
    const struct cov_grid *grid;
    size_t n_pairs;
    size_t *at;      /* [n_pairs + 1]: byte offset of each pair in `packed` */
    uint8_t *packed; /* + strand, or - strand where there is no + strand */
    /* Packed codes of - strands that are not the reverse complement of the + strand, else NULL.
     * Owned. */
    uint8_t **minus;
};

static size_t packed_bytes(const struct cov_pair *pair)
{
    return (size_t)(pair->end - pair->beg + 1) / 2;
}

int cov_kept_codes_new(const struct cov_grid *grid, struct cov_kept_codes **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_kept_codes *k = cov_calloc(1, sizeof *k, e);
    if (!k)
        return COV_ENOMEM;
    k->grid = grid;
    k->n_pairs = cov_grid_n_pairs(grid);
    k->at = cov_calloc(k->n_pairs + 1, sizeof *k->at, e);
    k->minus = cov_calloc(k->n_pairs, sizeof *k->minus, e);
    int rc = k->at && k->minus ? COV_OK : COV_ENOMEM;
    for (size_t p = 0; !rc && p < k->n_pairs; p++) {
        struct cov_pair pair = cov_grid_pair(grid, p);
        if (cov_size_add(k->at[p], packed_bytes(&pair), &k->at[p + 1]))
            rc = cov_fail(e, COV_ENOMEM, "out of memory: too many bases");
    }
    if (!rc) {
        k->packed = cov_malloc(k->at[k->n_pairs], 1, e);
        rc = k->packed ? COV_OK : COV_ENOMEM;
    }
    if (rc) {
        cov_kept_codes_free(k);
        return rc;
    }
    *out = k;
    return COV_OK;
}

void cov_kept_codes_free(struct cov_kept_codes *k)
{
    if (!k)
        return;
    for (size_t p = 0; k->minus && p < k->n_pairs; p++)
        free(k->minus[p]);
    free(k->minus);
    free(k->packed);
    free(k->at);
    free(k);
}

int cov_kept_codes_put(struct cov_kept_codes *k, size_t p, uint8_t *const codes[2],
                       uint8_t *scratch, struct cov_err *e)
{
    struct cov_pair pair = cov_grid_pair(k->grid, p);
    size_t n = (size_t)(pair.end - pair.beg);
    bool plus = pair.rows[COV_PLUS] != COV_NO_ROW, minus = pair.rows[COV_MINUS] != COV_NO_ROW;
    cov_codes_pack(codes[plus ? COV_PLUS : COV_MINUS], n, k->packed + k->at[p]);
    if (!plus || !minus)
        return COV_OK;
    cov_codes_other_strand(codes[COV_PLUS], n, scratch);
    if (memcmp(scratch, codes[COV_MINUS], n) == 0)
        return COV_OK;
    k->minus[p] = cov_malloc(packed_bytes(&pair), 1, e);
    if (!k->minus[p])
        return COV_ENOMEM;
    cov_codes_pack(codes[COV_MINUS], n, k->minus[p]);
    return COV_OK;
}

void cov_kept_codes_get(const struct cov_kept_codes *k, size_t p, uint8_t *const codes[2])
{
    struct cov_pair pair = cov_grid_pair(k->grid, p);
    size_t n = (size_t)(pair.end - pair.beg), n_pad = cov_grid_chunk_length(k->grid) - n;
    bool plus = pair.rows[COV_PLUS] != COV_NO_ROW, minus = pair.rows[COV_MINUS] != COV_NO_ROW;
    uint8_t *first = codes[plus ? COV_PLUS : COV_MINUS];
    cov_codes_unpack(k->packed + k->at[p], 0, n, first);
    memset(first + n, COV_CODE_PAD, n_pad);
    if (!plus || !minus)
        return;
    uint8_t *second = codes[COV_MINUS];
    if (k->minus[p])
        cov_codes_unpack(k->minus[p], 0, n, second);
    else
        cov_codes_other_strand(first, n, second);
    memset(second + n, COV_CODE_PAD, n_pad);
}
