/* bases_check.c - see bases_check.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/predict/bases_check.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/ring.h"

struct slot {
    struct cov_loader_item item, stored;
    struct cov_blob raw[2];
};

struct run {
    struct cov_loader *loader;
    struct cov_progress *progress;
    size_t L;
    struct slot *slots;
    size_t n_slots;
    uint8_t *codes; /* two chunks per worker */
    uint64_t *out;
};

static int fetch(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct run *r = arg;
    struct slot *s = &r->slots[slot];
    int got = cov_loader_next(r->loader, &s->item, s->raw, e);
    s->stored = s->item;
    if (got <= 0 || !cov_loader_has_neighbours(r->loader) || s->item.beg == s->item.end)
        return got;
    int rc = cov_loader_neighbour(r->loader, s->item.seq, s->item.beg, &s->stored, s->raw, e);
    return rc ? rc : got;
}

static int hash(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct run *r = arg;
    struct slot *s = &r->slots[slot];
    uint8_t *codes = r->codes + 2 * r->L * worker;
    int rc = cov_loader_codes(r->loader, &s->stored, s->raw,
                              (uint8_t *const[2]){codes, codes + r->L}, e);
    for (size_t strand = COV_PLUS; !rc && strand <= COV_MINUS; strand++)
        if (s->item.has[strand])
            r->out[s->item.rows[strand]] = cov_item_fingerprint(&s->item, codes + strand * r->L);
    return rc;
}

static int count(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    (void)e;
    struct run *r = arg;
    const struct cov_loader_item *item = &r->slots[slot].item;
    cov_progress_add(r->progress, item->has[COV_PLUS] + item->has[COV_MINUS]);
    return COV_OK;
}

int cov_bases_fingerprints(struct cov_loader *loader, struct cov_pool *pool,
                           struct cov_progress *progress, uint64_t **out, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch, hash, count};
    struct run r = {.loader = loader,
                    .progress = progress,
                    .L = cov_loader_chunk_length(loader),
                    .n_slots = cov_ring_slots(pool)};
    *out = NULL;
    size_t n_rows = cov_grid_n_chunks(cov_loader_grid(loader)), n_codes;
    int rc = cov_size_mul(r.L, (size_t)2 * cov_pool_size(pool), &n_codes)
                 ? cov_fail(e, COV_ENOMEM, "chunks of %zu bases are too long", r.L)
                 : COV_OK;
    if (!rc) {
        r.slots = cov_calloc(r.n_slots, sizeof *r.slots, e);
        r.codes = cov_malloc(n_codes, 1, e);
        r.out = cov_calloc(n_rows + 1, sizeof *r.out, e);
        rc = r.slots && r.codes && r.out ? COV_OK : COV_ENOMEM;
    }
    cov_progress_begin(progress, "checking", "chunks", (int64_t)n_rows);
    if (!rc)
        rc = cov_ring_run(pool, r.n_slots, &stages, &r, NULL, e);
    cov_progress_end(progress);
    if (!rc)
        rc = cov_loader_rewind(loader, 0, e);
    for (size_t i = 0; r.slots && i < r.n_slots; i++)
        for (int s = COV_PLUS; s <= COV_MINUS; s++)
            cov_blob_fini(&r.slots[i].raw[s]);
    free(r.slots);
    free(r.codes);
    if (rc)
        free(r.out);
    else
        *out = r.out;
    return rc;
}
