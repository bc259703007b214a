/* depth_store.c - see depth_store.h.
 *
 * A lane is its differences, which are small and often zero, in bytes: shuffled, then LZF.
 * SPDX-License-Identifier: MIT */
#include "common/track/depth_store.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/codec/codec.h"

static const struct cov_filter filters[] = {{.id = COV_H5_SHUFFLE, .elem_bytes = 4},
                                            {.id = COV_H5_LZF}};

/* In front of each lane: its packed bytes, and whether it was packed at all. */
struct head {
    uint32_t n_bytes, is_packed;
};

int cov_depth_store_init(struct cov_depth_store *s, size_t n_pieces, size_t n_lanes,
                         const char *tmpdir, struct cov_err *e)
{
    memset(s, 0, sizeof *s);
    s->n_pieces = n_pieces;
    s->n_lanes = n_lanes;
    int rc = cov_spool_init(&s->spool, tmpdir, e);
    s->at = cov_malloc(n_pieces, sizeof *s->at, e);
    s->bytes = cov_malloc(n_pieces, sizeof *s->bytes, e);
    if (rc || !s->at || !s->bytes) {
        cov_depth_store_fini(s);
        return COV_ENOMEM;
    }
    for (size_t i = 0; i < n_pieces; i++)
        s->at[i] = -1;
    return COV_OK;
}

void cov_depth_store_fini(struct cov_depth_store *s)
{
    if (s->at || s->bytes || s->spool.dir)
        cov_spool_fini(&s->spool);
    free(s->at);
    free(s->bytes);
    memset(s, 0, sizeof *s);
    s->spool.fd = -1;
}

static int pack_lane(const int32_t *lane, size_t n, struct cov_blob *out, struct cov_err *e)
{
    static const struct cov_codec_choice lzf = {COV_CODEC_LZF, 0};
    size_t n_bytes = 4 * n, bound = cov_codec_bound(lzf, n_bytes), got;
    uint8_t *at;
    int rc = cov_blob_room(out, sizeof(struct head) + bound + 2 * n_bytes, &at, e);
    if (rc)
        return rc;
    uint8_t *to = at + sizeof(struct head), *steps = to + bound, *shuffled = steps + n_bytes;
    int32_t before = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t step = (uint32_t)lane[i] - (uint32_t)before;
        memcpy(steps + 4 * i, &step, 4);
        before = lane[i];
    }
    cov_shuffle(steps, n_bytes, 4, shuffled);
    rc = cov_codec_encode(lzf, 0, shuffled, n_bytes, to, bound, &got, e);
    if (rc)
        return rc;
    struct head head = {(uint32_t)got, got > 0};
    if (got == 0) {
        memcpy(to, shuffled, n_bytes);
        head.n_bytes = (uint32_t)n_bytes;
    }
    memcpy(at, &head, sizeof head);
    return cov_blob_end_piece(out, sizeof head + head.n_bytes, e);
}

int cov_depth_pack(const int32_t *const *lanes, size_t n_lanes, size_t n, struct cov_blob *out,
                   struct cov_err *e)
{
    int rc = COV_OK;
    cov_blob_clear(out);
    for (size_t k = 0; !rc && k < n_lanes; k++)
        rc = pack_lane(lanes[k], n, out, e);
    return rc;
}

int cov_depth_store_put(struct cov_depth_store *s, size_t piece, const struct cov_blob *packed,
                        struct cov_err *e)
{
    s->bytes[piece] = (uint32_t)packed->n_bytes;
    return cov_spool_append(&s->spool, packed->data, packed->n_bytes, &s->at[piece], e);
}

int cov_depth_store_get(const struct cov_depth_store *s, size_t piece, size_t n,
                        int32_t *const *lanes, struct cov_blob *scratch, struct cov_err *e)
{
    for (size_t k = 0; k < s->n_lanes && s->at[piece] < 0; k++)
        memset(lanes[k], 0, n * sizeof **lanes);
    if (s->at[piece] < 0)
        return COV_OK;
    size_t n_bytes = 4 * n, undo = cov_codec_undo_scratch(n_bytes);
    uint8_t *at;
    cov_blob_clear(scratch);
    int rc = cov_blob_room(scratch, s->bytes[piece] + undo, &at, e);
    if (!rc)
        rc = cov_spool_read(&s->spool, s->at[piece], at, s->bytes[piece], e);
    uint8_t *undoing = at + s->bytes[piece];
    for (size_t k = 0; !rc && k < s->n_lanes; k++) {
        struct head head;
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        rc = cov_codec_undo(filters, 2, head.is_packed ? 0 : 2, at, head.n_bytes, lanes[k], n_bytes,
                            undoing, e);
        at += head.n_bytes;
        for (size_t i = 1; !rc && i < n; i++)
            lanes[k][i] = (int32_t)((uint32_t)lanes[k][i] + (uint32_t)lanes[k][i - 1]);
    }
    return rc;
}
