/* h5_bands.c - see h5_bands.h.
 * SPDX-License-Identifier: MIT */
#include "common/store/h5_bands.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

void cov_h5_bands_fini(struct cov_h5_bands *b)
{
    for (size_t i = 0; i < COV_H5_N_BANDS; i++)
        free(b->bands[i].rows);
    cov_blob_fini(&b->raw);
    memset(b, 0, sizeof *b);
}

static int read_band(struct cov_h5_bands *b, const struct cov_h5_rows *rows, size_t row,
                     cov_h5_fetch_fn *fetch, void *arg, uint8_t *dst, struct cov_err *e)
{
    size_t first = row - row % rows->chunk[0], n = rows->dims[0] - first;
    if (n > rows->chunk[0])
        n = rows->chunk[0];
    const uint8_t *block = NULL;
    cov_blob_clear(&b->raw);
    int rc = fetch(arg, row, &b->raw, e);
    if (rc)
        return rc;
    rc = cov_h5_unpack(rows, first, n, 0, rows->dims[2], &b->raw, 0, &block, e);
    if (rc)
        return cov_err_prefix(e, "%s: %s: rows %zu to %zu", b->path, b->name, first, first + n - 1);
    memcpy(dst, block, n * rows->dims[1] * rows->dims[2] * rows->type.bytes);
    return COV_OK;
}

int cov_h5_bands_row(struct cov_h5_bands *b, const struct cov_h5_rows *rows, size_t row,
                     cov_h5_fetch_fn *fetch, void *arg, const uint8_t **elems, struct cov_err *e)
{
    size_t index = row / rows->chunk[0], k = 0;
    size_t row_elems = rows->dims[1] * rows->dims[2];
    for (size_t i = 0; i < COV_H5_N_BANDS; i++) {
        if (b->bands[i].rows && b->bands[i].index == index) {
            k = i;
            break;
        }
        if (b->bands[i].used < b->bands[k].used)
            k = i;
    }
    if (!b->bands[k].rows || b->bands[k].index != index) {
        uint8_t *dst = b->bands[k].rows;
        if (!dst)
            dst = cov_malloc(rows->chunk[0] * row_elems, rows->type.bytes, e);
        if (!dst)
            return COV_ENOMEM;
        b->bands[k].rows = NULL; /* until it holds what it should */
        int rc = read_band(b, rows, row, fetch, arg, dst, e);
        if (rc) {
            free(dst);
            return rc;
        }
        b->bands[k].rows = dst;
        b->bands[k].index = index;
    }
    b->bands[k].used = ++b->clock;
    *elems = b->bands[k].rows + row % rows->chunk[0] * row_elems * rows->type.bytes;
    return COV_OK;
}
