/* survey.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/job/chunks/rewrite.h"
#include "common/seq/alphabet.h"

/* Counts codes[0..n) in four tables, so that equal neighbours do not wait for each other. */
static void count_codes(const uint8_t *codes, size_t n, int64_t n_codes[16])
{
    uint32_t tables[4][16] = {{0}}; /* n < 2^32, see COV_H5_MAX_BYTES */
    for (size_t i = 0; i < n; i++)
        tables[i & 3][codes[i] & 15]++;
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 16; c++)
            n_codes[c] += tables[k][c];
}

static bool is_all_n(const uint8_t *codes, size_t n)
{
    size_t i = 0;
    while (i < n && codes[i] == COV_CODE_N)
        i++;
    return i == n;
}

int cov_survey_add(struct cov_survey *s, const uint8_t *codes, size_t n, uint8_t *scratch,
                   struct cov_err *e)
{
    count_codes(codes, n, s->n_codes);
    size_t index = s->n_pairs++;
    if (is_all_n(codes, n))
        return COV_OK;
    int rc = COV_RESERVE(&s->chunks, &s->cap, s->n + 1, e);
    if (!rc)
        s->chunks[s->n++] = (struct cov_keyed_chunk){cov_bases_key(codes, n, scratch), index};
    return rc;
}

void cov_survey_end(struct cov_survey *s)
{
    cov_copies_sort(s->chunks, s->n);
}

void cov_survey_fini(struct cov_survey *s)
{
    free(s->chunks);
    *s = (struct cov_survey){.n = 0};
}

size_t cov_survey_n_copies(const struct cov_survey *s)
{
    size_t n = 0, end;
    for (size_t beg = 0; beg < s->n; beg = end) {
        end = cov_copies_end(s->chunks, s->n, beg);
        n += end - beg - 1;
    }
    return n;
}

/* ---- files ---- */

struct survey_item {
    size_t pair, row;
    bool all_n;
    struct cov_bases_key key;
    struct cov_blob raw;
};

struct survey_slot {
    size_t n;
    struct survey_item *items; /* [batch] */
    int64_t n_codes[16];
};

struct survey_reader {
    struct cov_chunk_file *file;
    const struct cov_grid *grid;
    const bool *wanted; /* or NULL */
    struct cov_progress *progress;
    struct cov_survey *out;
    size_t L, batch, next;
};

static int survey_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct survey_reader *r = arg;
    struct survey_slot *s = slot;
    s->n = 0;
    for (; s->n < r->batch && r->next < cov_grid_n_pairs(r->grid); r->next++) {
        struct cov_pair p = cov_grid_pair(r->grid, r->next);
        struct survey_item *item = &s->items[s->n];
        if (r->wanted && !cov_pair_is_marked(&p, r->wanted))
            continue;
        item->pair = r->next;
        item->row = p.rows[p.rows[COV_PLUS] == COV_NO_ROW ? COV_MINUS : COV_PLUS];
        cov_blob_clear(&item->raw);
        int rc = cov_chunk_file_fetch(r->file, item->row, COV_CHUNK_BASES, &item->raw, e);
        if (rc)
            return rc;
        s->n++;
    }
    return s->n > 0;
}

static int survey_look(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct survey_reader *r = arg;
    struct survey_slot *s = slot;
    uint8_t *codes = *(uint8_t **)worker;
    memset(s->n_codes, 0, sizeof s->n_codes);
    for (size_t k = 0; k < s->n; k++) {
        struct survey_item *item = &s->items[k];
        const struct cov_chunk c = cov_grid_chunk(r->grid, item->row);
        const size_t n = (size_t)(c.end - c.beg);
        int rc =
            cov_chunk_file_decode(r->file, item->row, COV_CHUNK_BASES, &item->raw, codes, NULL, e);
        if (rc)
            return rc;
        count_codes(codes, n, s->n_codes);
        item->all_n = is_all_n(codes, n);
        if (!item->all_n)
            item->key = cov_bases_key(codes, n, codes + r->L);
    }
    return COV_OK;
}

static int survey_collect(void *arg, void *slot, struct cov_err *e)
{
    struct survey_reader *r = arg;
    const struct survey_slot *s = slot;
    struct cov_survey *out = r->out;
    int rc = COV_RESERVE(&out->chunks, &out->cap, out->n + s->n, e);
    if (rc)
        return rc;
    for (size_t k = 0; k < s->n; k++)
        if (!s->items[k].all_n)
            out->chunks[out->n++] = (struct cov_keyed_chunk){s->items[k].key, s->items[k].pair};
    for (int c = 0; c < 16; c++)
        out->n_codes[c] += s->n_codes[c];
    out->n_pairs += s->n;
    cov_progress_add(r->progress, (int64_t)s->n);
    return COV_OK;
}

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct survey_reader *r = arg;
    struct survey_slot *s = slot;
    s->items = cov_arena_calloc(memory, r->batch, sizeof *s->items);
}

static void fini_slot(void *arg, void *slot)
{
    const struct survey_reader *r = arg;
    struct survey_slot *s = slot;
    for (size_t k = 0; s->items && k < r->batch; k++)
        cov_blob_fini(&s->items[k].raw);
}

/* A worker's buffer is a pointer to [2][L]: the codes of a chunk, and scratch. */
static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct survey_reader *r = arg;
    (void)i;
    *(uint8_t **)worker = cov_arena_calloc(memory, r->L, 2);
}

int cov_survey_file(struct cov_chunk_file *f, const bool *wanted, const char *what,
                    const struct cov_job *job, struct cov_survey *out, struct cov_err *e)
{
    static const struct cov_ring_job ring = {
        .fetch = survey_fetch,
        .work = survey_look,
        .store = survey_collect,
        .slot_bytes = sizeof(struct survey_slot),
        .worker_bytes = sizeof(uint8_t *),
        .init_slot = init_slot,
        .fini_slot = fini_slot,
        .init_worker = init_worker,
    };
    const size_t L = cov_chunk_file_head(f)->L;
    struct survey_reader r = {.file = f,
                              .grid = cov_chunk_file_grid(f),
                              .wanted = wanted,
                              .progress = job->progress,
                              .out = out,
                              .L = L,
                              .batch = 1 + COV_REWRITE_SLOT_BASES / L};
    cov_progress_begin(job->progress, what, "chunks", (int64_t)cov_grid_n_pairs(r.grid));
    int rc = cov_ring_run_job(job->pool, &ring, &r, NULL, e);
    cov_progress_end(job->progress);
    cov_survey_end(out);
    return rc;
}
