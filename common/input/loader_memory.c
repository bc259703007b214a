/* loader_memory.c - see loader_memory.h.
 * SPDX-License-Identifier: MIT */
#include "common/input/loader_memory.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/seq/alphabet.h"

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
