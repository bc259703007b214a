/* coverage_store.c - see coverage_store.h.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/coverage_store.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/chunk/coverage_file.h"

/* At least one in every SAMPLED_OF pairs, and at least SAMPLE pairs in total, are read back. */
enum { SAMPLED_OF = 64, SAMPLE = 16 };

struct cov_stored_pair {
    int64_t at;             /* offset of the first piece; the others follow. -1: the pair was not
                             * put */
    uint32_t n_bytes[2][2]; /* [strand][set] */
    uint32_t elem_bytes;
    uint64_t hash;
};

int cov_coverage_store_init(struct cov_coverage_store *s, size_t n_pairs, size_t L,
                            size_t elem_bytes, const char *tmpdir, struct cov_err *e)
{
    memset(s, 0, sizeof *s);
    s->n_pairs = n_pairs;
    s->L = L;
    s->elem_bytes = elem_bytes;
    int rc = cov_spool_init(&s->spool, tmpdir, e);
    s->pairs = rc ? NULL : cov_calloc(n_pairs, sizeof *s->pairs, e);
    if (!s->pairs) {
        cov_coverage_store_fini(s);
        return COV_ENOMEM;
    }
    for (size_t i = 0; i < n_pairs; i++)
        s->pairs[i].at = -1;
    return COV_OK;
}

void cov_coverage_store_fini(struct cov_coverage_store *s)
{
    if (s->spool.dir)
        cov_spool_fini(&s->spool);
    free(s->pairs);
    memset(s, 0, sizeof *s);
    s->spool.fd = -1;
}

/* ---- the sample ---- */

bool cov_coverage_store_samples(const struct cov_coverage_store *s, size_t i)
{
    size_t step = s->n_pairs / SAMPLE;
    step = step < 1 ? 1 : step > SAMPLED_OF ? SAMPLED_OF : step;
    return i % step == 0 || i + 1 == s->n_pairs;
}

static inline uint64_t hash_value(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15;
    return h ^ h >> 32;
}

uint64_t cov_coverage_hash(uint64_t before, const int64_t *values, size_t n)
{
    uint64_t h = hash_value(before, n);
    for (size_t t = 0; t < n; t++)
        h = hash_value(h, (uint64_t)values[t]);
    return h;
}

static uint64_t hash_lane(uint64_t before, const struct cov_depth_lane *lane, size_t n, bool minus)
{
    uint64_t h = hash_value(before, n);
    for (size_t t = 0; t < n; t++)
        h = hash_value(h, lane->max > 0 ? (uint64_t)lane->depth[minus ? n - 1 - t : t] : 0);
    return h;
}

static uint64_t hash_lanes(const struct cov_pair *pair,
                           const struct cov_depth_lane lanes[COV_COVERAGE_SETS][2])
{
    uint64_t h = 0;
    for (int strand = COV_PLUS; strand <= COV_MINUS; strand++)
        for (int which = 0; which < COV_COVERAGE_SETS && pair->rows[strand] != COV_NO_ROW; which++)
            h = hash_lane(h, &lanes[which][strand], (size_t)(pair->end - pair->beg),
                          strand == COV_MINUS);
    return h;
}

uint64_t cov_coverage_store_hash(const struct cov_coverage_store *s, size_t i,
                                 const struct cov_pair *pair)
{
    static const struct cov_depth_lane zeros[COV_COVERAGE_SETS][2];
    return s->pairs[i].at >= 0 ? s->pairs[i].hash : hash_lanes(pair, zeros);
}

/* ---- putting and getting rows ---- */

/* Adds a row of zeros. *zeros is the number of the piece of such a row, or SIZE_MAX before the
 * first one. */
static int pack_zeros(struct cov_coverage_row row, size_t *zeros, struct cov_blob *out,
                      struct cov_err *e)
{
    if (*zeros == SIZE_MAX) {
        *zeros = out->n_pieces;
        return cov_coverage_encode_depth(row, &(struct cov_depth_lane){NULL, 0}, false, out, e);
    }
    size_t n_bytes;
    uint8_t *to;
    (void)cov_blob_piece(out, *zeros, &n_bytes);
    int rc = cov_blob_room(out, n_bytes, &to, e);
    if (rc)
        return rc;
    memcpy(to, cov_blob_piece(out, *zeros, &n_bytes), n_bytes);
    return cov_blob_end_piece(out, n_bytes, e);
}

int cov_coverage_store_pack(const struct cov_coverage_store *s, size_t i,
                            const struct cov_pair *pair,
                            const struct cov_depth_lane lanes[COV_COVERAGE_SETS][2],
                            struct cov_packed_pair *out, struct cov_err *e)
{
    size_t zeros = SIZE_MAX;
    int rc = COV_OK;
    cov_blob_clear(&out->blob);
    out->elem_bytes = s->elem_bytes;
    for (int k = 0; k < 2 * COV_COVERAGE_SETS; k++)
        if (lanes[k / 2][k % 2].max > INT16_MAX && out->elem_bytes < 4)
            out->elem_bytes = 4;
    const struct cov_coverage_row row = {(size_t)(pair->end - pair->beg), s->L, out->elem_bytes};
    for (int k = 0; !rc && k < 2 * COV_COVERAGE_SETS; k++) {
        int strand = k / COV_COVERAGE_SETS;
        const struct cov_depth_lane *lane = &lanes[k % COV_COVERAGE_SETS][strand];
        if (pair->rows[strand] == COV_NO_ROW)
            rc = cov_blob_end_piece(&out->blob, 0, e);
        else if (lane->max == 0)
            rc = pack_zeros(row, &zeros, &out->blob, e);
        else
            rc = cov_coverage_encode_depth(row, lane, strand == COV_MINUS, &out->blob, e);
    }
    if (!rc)
        out->hash = cov_coverage_store_samples(s, i) ? hash_lanes(pair, lanes) : 0;
    return rc;
}

int cov_coverage_store_put(struct cov_coverage_store *s, size_t i,
                           const struct cov_packed_pair *packed, struct cov_err *e)
{
    struct cov_stored_pair *p = &s->pairs[i];
    for (size_t k = 0; k < packed->blob.n_pieces; k++) {
        size_t n;
        (void)cov_blob_piece(&packed->blob, k, &n);
        p->n_bytes[k / COV_COVERAGE_SETS][k % COV_COVERAGE_SETS] = (uint32_t)n;
    }
    p->elem_bytes = (uint32_t)packed->elem_bytes;
    p->hash = packed->hash;
    return cov_spool_append(&s->spool, packed->blob.data, packed->blob.n_bytes, &p->at, e);
}

bool cov_coverage_store_is_ready(const struct cov_coverage_store *s, size_t elem_bytes)
{
    for (size_t i = 0; i < s->n_pairs; i++)
        if (s->pairs[i].at >= 0 && s->pairs[i].elem_bytes != elem_bytes)
            return false;
    return true;
}

static int read_piece(const struct cov_coverage_store *s, const struct cov_stored_row *row,
                      struct cov_blob *out, struct cov_err *e)
{
    const struct cov_stored_pair *p = &s->pairs[row->pair];
    int64_t at = p->at;
    for (int k = 0; k < row->strand * COV_COVERAGE_SETS + row->which; k++)
        at += p->n_bytes[k / COV_COVERAGE_SETS][k % COV_COVERAGE_SETS];
    size_t n = p->n_bytes[row->strand][row->which];
    uint8_t *to;
    int rc = cov_blob_room(out, n, &to, e);
    if (!rc)
        rc = cov_spool_read(&s->spool, at, to, n, e);
    return rc ? rc : cov_blob_end_piece(out, n, e);
}

int cov_coverage_store_get(const struct cov_coverage_store *s, const struct cov_stored_row *row,
                           size_t elem_bytes, struct cov_coverage_scratch *scratch,
                           struct cov_blob *out, struct cov_err *e)
{
    const struct cov_stored_pair *p = &s->pairs[row->pair];
    const struct cov_coverage_row wanted = {row->n, s->L, elem_bytes};
    if (p->at < 0)
        return cov_coverage_encode_depth(wanted, &(struct cov_depth_lane){NULL, 0}, false, out, e);
    if (p->elem_bytes == elem_bytes)
        return read_piece(s, row, out, e);
    const struct cov_coverage_row stored = {row->n, s->L, p->elem_bytes};
    cov_blob_clear(&scratch->blob);
    int rc = read_piece(s, row, &scratch->blob, e);
    if (!rc)
        rc = cov_coverage_decode_piece(stored, &scratch->blob, 0, scratch->values, e);
    return rc ? rc : cov_coverage_encode(wanted, scratch->values, out, e);
}
