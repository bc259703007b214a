/* bases_check.c - see bases_check.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/predict/bases_check.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/ring.h"

struct bases_slot {
    struct cov_loader_item item, stored;
    struct cov_blob raw[2];
};

struct bases_job {
    struct cov_loader *loader;
    struct cov_progress *progress;
    size_t L;
    uint64_t *out;
};

static int bases_fetch(void *arg, void *slot, struct cov_err *e)
{
    const struct bases_job *j = arg;
    struct bases_slot *s = slot;
    int got = cov_loader_next(j->loader, &s->item, s->raw, e);
    s->stored = s->item;
    if (got <= 0 || !cov_loader_has_neighbours(j->loader) || s->item.beg == s->item.end)
        return got;
    int rc = cov_loader_neighbour(j->loader, s->item.seq, s->item.beg, &s->stored, s->raw, e);
    return rc ? rc : got;
}

/* `worker` is a buffer for the codes of two chunks. */
static int bases_hash(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct bases_job *j = arg;
    struct bases_slot *s = slot;
    uint8_t *const codes[2] = {worker, (uint8_t *)worker + j->L};
    int rc = cov_loader_codes(j->loader, &s->stored, s->raw, codes, e);
    for (size_t strand = COV_PLUS; !rc && strand <= COV_MINUS; strand++)
        if (s->item.has[strand])
            j->out[s->item.rows[strand]] = cov_item_fingerprint(&s->item, codes[strand]);
    return rc;
}

static int bases_count(void *arg, void *slot, struct cov_err *e)
{
    (void)e;
    const struct bases_job *j = arg;
    const struct cov_loader_item *item = &((struct bases_slot *)slot)->item;
    cov_progress_add(j->progress, item->has[COV_PLUS] + item->has[COV_MINUS]);
    return COV_OK;
}

static void bases_fini_slot(void *arg, void *slot)
{
    (void)arg;
    struct bases_slot *s = slot;
    cov_blob_fini(&s->raw[COV_PLUS]);
    cov_blob_fini(&s->raw[COV_MINUS]);
}

int cov_bases_fingerprints(struct cov_loader *loader, struct cov_pool *pool,
                           struct cov_progress *progress, uint64_t **out, struct cov_err *e)
{
    struct bases_job j = {
        .loader = loader, .progress = progress, .L = cov_loader_chunk_length(loader)};
    const struct cov_ring_job ring = {.fetch = bases_fetch,
                                      .work = bases_hash,
                                      .store = bases_count,
                                      .slot_bytes = sizeof(struct bases_slot),
                                      .worker_bytes = 2 * j.L,
                                      .fini_slot = bases_fini_slot};
    *out = NULL;
    size_t n_rows = cov_grid_n_chunks(cov_loader_grid(loader));
    j.out = cov_calloc(n_rows + 1, sizeof *j.out, e);
    if (!j.out)
        return COV_ENOMEM;
    cov_progress_begin(progress, "checking", "chunks", (int64_t)n_rows);
    int rc = cov_ring_run_job(pool, &ring, &j, NULL, e);
    cov_progress_end(progress);
    if (!rc)
        rc = cov_loader_rewind(loader, 0, e);
    if (rc)
        free(j.out);
    else
        *out = j.out;
    return rc;
}
