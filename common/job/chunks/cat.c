/* cat.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/chunk/stream.h"
#include "common/file/path.h"

struct cat_pair {
    struct cov_blob raw[2]; /* by strand */
    struct cov_blob record;
};

struct cat_slot {
    size_t first, n;        /* pairs */
    struct cat_pair *pairs; /* [batch] */
};

/* Buffers of a worker, by strand. */
struct cat_scratch {
    uint8_t *codes[2];
    uint8_t **elems[2]; /* [n_sets] */
};

struct cat {
    struct cov_chunk_file *file;
    const struct cov_grid *grid;
    const struct cov_chunk_head *head;
    struct cov_chunk_parts parts; /* all of a row */
    struct cov_stream_writer *writer;
    struct cov_progress *progress;
    size_t n_pairs, batch, next;
    size_t n_begun; /* sequences started; all but the last have ended */
};

static int cat_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct cat *r = arg;
    struct cat_slot *s = slot;
    s->first = r->next;
    s->n = r->n_pairs - r->next < r->batch ? r->n_pairs - r->next : r->batch;
    for (size_t k = 0; k < s->n; k++) {
        struct cov_pair pair = cov_grid_pair(r->grid, s->first + k);
        for (int i = COV_PLUS; i <= COV_MINUS; i++) {
            struct cov_blob *raw = &s->pairs[k].raw[i];
            cov_blob_clear(raw);
            if (pair.rows[i] == COV_NO_ROW)
                continue;
            int rc = cov_chunk_file_fetch(r->file, pair.rows[i], r->parts, raw, e);
            if (rc)
                return rc;
        }
    }
    r->next += s->n;
    return s->n > 0;
}

static int cat_work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    struct cat *r = arg;
    struct cat_slot *s = slot;
    struct cat_scratch *t = worker;
    const uint8_t *const *elems[2] = {(const uint8_t *const *)t->elems[0],
                                      (const uint8_t *const *)t->elems[1]};
    for (size_t k = 0; k < s->n; k++) {
        struct cov_pair pair = cov_grid_pair(r->grid, s->first + k);
        struct cov_stream_pair out = {pair.beg, pair.end, {false, false}};
        const uint8_t *codes[2] = {NULL, NULL};
        int rc = COV_OK;
        for (int i = COV_PLUS; !rc && i <= COV_MINUS; i++) {
            out.has[i] = pair.rows[i] != COV_NO_ROW;
            if (!out.has[i])
                continue;
            rc = cov_chunk_file_decode(r->file, pair.rows[i], r->parts, &s->pairs[k].raw[i],
                                       t->codes[i], t->elems[i], e);
            codes[i] = r->head->has_bases ? t->codes[i] : NULL;
        }
        if (!rc)
            rc = cov_stream_pack(r->head, &out, codes, elems, &s->pairs[k].record, e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* Ends the current sequence, writes the sequences without chunks that precede `seq`, and begins
 * `seq` if it exists. */
static int move_to(struct cat *r, size_t seq, struct cov_err *e)
{
    int rc = COV_OK;
    while (!rc && r->n_begun <= seq) {
        if (r->n_begun > 0)
            rc = cov_stream_end(r->writer, cov_grid_seq_length(r->grid, r->n_begun - 1), e);
        if (rc || r->n_begun == cov_grid_n_seqs(r->grid))
            break;
        rc = cov_stream_begin(r->writer, cov_grid_species(r->grid, r->n_begun),
                              cov_grid_name(r->grid, r->n_begun), e);
        r->n_begun++;
    }
    return rc;
}

static int cat_store(void *arg, void *slot, struct cov_err *e)
{
    struct cat *r = arg;
    struct cat_slot *s = slot;
    for (size_t k = 0; k < s->n; k++) {
        int rc = move_to(r, cov_grid_pair(r->grid, s->first + k).seq, e);
        if (!rc)
            rc = cov_stream_put(r->writer, &s->pairs[k].record, e);
        if (rc)
            return rc;
    }
    cov_progress_add(r->progress, (int64_t)s->n);
    return COV_OK;
}

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct cat *r = arg;
    struct cat_slot *s = slot;
    s->pairs = cov_arena_calloc(memory, r->batch, sizeof *s->pairs);
}

static void fini_slot(void *arg, void *slot)
{
    const struct cat *r = arg;
    struct cat_slot *s = slot;
    for (size_t k = 0; s->pairs && k < r->batch; k++) {
        cov_blob_fini(&s->pairs[k].raw[COV_PLUS]);
        cov_blob_fini(&s->pairs[k].raw[COV_MINUS]);
        cov_blob_fini(&s->pairs[k].record);
    }
}

static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct cat *r = arg;
    struct cat_scratch *t = worker;
    (void)i;
    for (int k = COV_PLUS; k <= COV_MINUS; k++) {
        t->codes[k] = cov_arena_calloc(memory, r->head->L, 1);
        t->elems[k] = cov_rewrite_room(r->head, memory);
    }
}

static int write_stream(struct cat *r, const char *path, bool compress, const struct cov_job *job,
                        struct cov_ring_times *times, struct cov_err *e)
{
    static const struct cov_ring_job ring = {
        .fetch = cat_fetch,
        .work = cat_work,
        .store = cat_store,
        .slot_bytes = sizeof(struct cat_slot),
        .worker_bytes = sizeof(struct cat_scratch),
        .init_slot = init_slot,
        .fini_slot = fini_slot,
        .init_worker = init_worker,
    };
    int rc = cov_stream_create(path, r->head, cov_grid_is_partial(r->grid), compress,
                               cov_pool_size(job->pool), &r->writer, e);
    if (rc)
        return rc;
    cov_progress_begin(job->progress, "writing", "pairs of chunks", (int64_t)r->n_pairs);
    rc = cov_ring_run_job(job->pool, &ring, r, times, e);
    cov_progress_end(job->progress);
    if (!rc)
        rc = move_to(r, cov_grid_n_seqs(r->grid), e);
    if (!rc) {
        rc = cov_stream_finish(r->writer, e);
        r->writer = NULL;
    }
    return rc;
}

int cov_cat(const char *input, const char *output, const struct cov_rewrite_job *job,
            struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_ring_times times = {0};
    struct cat r = {.progress = job->job.progress};
    size_t *ks = NULL;
    bool is_std = cov_path_is_std(output);
    int rc = COV_OK;
    if (!is_std)
        rc = cov_outfile_begin(&out, output, COV_OUTFILE_STREAM, job->force, e);
    if (!rc)
        rc = cov_chunk_file_open(input, &r.file, e);
    if (rc)
        goto out;
    r.grid = cov_chunk_file_grid(r.file);
    r.head = cov_chunk_file_head(r.file);
    r.n_pairs = cov_grid_n_pairs(r.grid);
    r.batch = 1 + COV_REWRITE_SLOT_BASES / 2 / r.head->L;
    ks = cov_calloc(r.head->n_sets + 1, sizeof *ks, e);
    for (size_t k = 0; ks && k < r.head->n_sets; k++)
        ks[k] = k;
    r.parts = (struct cov_chunk_parts){r.head->has_bases, ks, r.head->n_sets};
    rc = ks ? write_stream(&r, is_std ? "-" : out.tmp, !is_std && !out.in_place, &job->job, &times,
                           e)
            : COV_ENOMEM;
    cov_stats_add_stage(job->job.stats, "fetch", times.source);
    cov_stats_add_stage(job->job.stats, "recode", times.work);
    cov_stats_add_stage(job->job.stats, "store", times.sink);
    job->job.stats->chunks = (int64_t)cov_grid_n_chunks(r.grid);
    if (!rc && !is_std)
        rc = cov_outfile_commit(&out, e);
out:
    cov_stream_abort(r.writer);
    free(ks);
    cov_chunk_file_close(r.file);
    cov_outfile_end(&out, e);
    return rc;
}
