/* cat.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/file/path.h"
#include "common/store/stream.h"

struct cat_slot {
    size_t first, n;         /* pairs */
    struct cov_blob *raw[2]; /* [batch] per strand */
    struct cov_blob *records;
};

/* Buffers of a worker, by strand. */
struct cat_scratch {
    uint8_t *codes[2];
    uint8_t *room[2];
    uint8_t **elems[2]; /* [n_sets], into room */
};

struct cat {
    struct cov_chunk_file *file;
    const struct cov_grid *grid;
    const struct cov_chunk_head *head;
    struct cov_stream_writer *writer;
    struct cov_progress *progress;
    size_t *ks;
    size_t n_pairs, batch, next;
    size_t n_begun; /* sequences started; all but the last have ended */
    struct cat_slot *slots;
    size_t n_slots;
    struct cat_scratch *scratch;
    unsigned n_workers;
};

static int cat_source(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct cat *r = arg;
    struct cat_slot *s = &r->slots[slot];
    s->first = r->next;
    s->n = r->n_pairs - r->next < r->batch ? r->n_pairs - r->next : r->batch;
    for (size_t k = 0; k < s->n; k++) {
        struct cov_pair pair = cov_grid_pair(r->grid, s->first + k);
        for (int i = COV_PLUS; i <= COV_MINUS; i++) {
            cov_blob_clear(&s->raw[i][k]);
            if (pair.rows[i] == COV_NO_ROW)
                continue;
            int rc = cov_chunk_file_fetch(
                r->file, pair.rows[i],
                (struct cov_chunk_parts){r->head->has_bases, r->ks, r->head->n_sets}, &s->raw[i][k],
                e);
            if (rc)
                return rc;
        }
    }
    r->next += s->n;
    return s->n > 0;
}

static int cat_work(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct cat *r = arg;
    struct cat_slot *s = &r->slots[slot];
    struct cat_scratch *t = &r->scratch[worker];
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
            rc = cov_chunk_file_decode(
                r->file, pair.rows[i],
                (struct cov_chunk_parts){r->head->has_bases, r->ks, r->head->n_sets}, &s->raw[i][k],
                t->codes[i], t->elems[i], e);
            codes[i] = r->head->has_bases ? t->codes[i] : NULL;
        }
        if (!rc)
            rc = cov_stream_pack(r->head, &out, codes, elems, &s->records[k], e);
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

static int cat_sink(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct cat *r = arg;
    struct cat_slot *s = &r->slots[slot];
    for (size_t k = 0; k < s->n; k++) {
        int rc = move_to(r, cov_grid_pair(r->grid, s->first + k).seq, e);
        if (!rc)
            rc = cov_stream_put(r->writer, &s->records[k], e);
        if (rc)
            return rc;
    }
    cov_progress_add(r->progress, (int64_t)s->n);
    return COV_OK;
}

static int cat_allocate(struct cat *r, struct cov_err *e)
{
    int rc = COV_OK;
    r->ks = cov_calloc(r->head->n_sets + 1, sizeof *r->ks, e);
    r->slots = cov_calloc(r->n_slots, sizeof *r->slots, e);
    r->scratch = cov_calloc(r->n_workers, sizeof *r->scratch, e);
    if (!r->ks || !r->slots || !r->scratch)
        return COV_ENOMEM;
    for (size_t k = 0; k < r->head->n_sets; k++)
        r->ks[k] = k;
    for (size_t i = 0; i < r->n_slots; i++) {
        struct cat_slot *s = &r->slots[i];
        s->raw[0] = cov_calloc(r->batch, sizeof *s->raw[0], e);
        s->raw[1] = cov_calloc(r->batch, sizeof *s->raw[1], e);
        s->records = cov_calloc(r->batch, sizeof *s->records, e);
        if (!s->raw[0] || !s->raw[1] || !s->records)
            return COV_ENOMEM;
    }
    for (unsigned i = 0; i < r->n_workers; i++)
        for (int k = 0; !rc && k < 2; k++) {
            struct cat_scratch *t = &r->scratch[i];
            t->codes[k] = cov_malloc(r->head->L, 1, e);
            rc = t->codes[k] ? cov_rewrite_room(r->head, &t->room[k], &t->elems[k], e) : COV_ENOMEM;
        }
    return rc;
}

static void free_blobs(struct cov_blob *blobs, size_t n)
{
    for (size_t i = 0; blobs && i < n; i++)
        cov_blob_fini(&blobs[i]);
    free(blobs);
}

static void cat_release(struct cat *r)
{
    for (size_t i = 0; r->slots && i < r->n_slots; i++) {
        free_blobs(r->slots[i].raw[0], r->batch);
        free_blobs(r->slots[i].raw[1], r->batch);
        free_blobs(r->slots[i].records, r->batch);
    }
    for (unsigned i = 0; r->scratch && i < r->n_workers; i++)
        for (int k = 0; k < 2; k++) {
            free(r->scratch[i].codes[k]);
            free(r->scratch[i].room[k]);
            free(r->scratch[i].elems[k]);
        }
    free(r->ks);
    free(r->slots);
    free(r->scratch);
}

static int write_stream(struct cat *r, const char *path, bool compress, const struct cov_job *job,
                        struct cov_ring_times *times, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {cat_source, cat_work, cat_sink};
    int rc = cat_allocate(r, e);
    if (!rc)
        rc = cov_stream_create(path, r->head, cov_grid_is_partial(r->grid), compress, r->n_workers,
                               &r->writer, e);
    if (rc)
        return rc;
    cov_progress_begin(job->progress, "writing", "pairs of chunks", (int64_t)r->n_pairs);
    rc = cov_ring_run(job->pool, r->n_slots, &stages, r, times, e);
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
    struct cat r = {.progress = job->job.progress,
                    .n_slots = cov_ring_slots(job->job.pool),
                    .n_workers = cov_pool_size(job->job.pool)};
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
    rc = write_stream(&r, is_std ? "-" : out.tmp, !is_std && !out.in_place, &job->job, &times, e);
    cov_stats_add_stage(job->job.stats, "fetch", times.source);
    cov_stats_add_stage(job->job.stats, "recode", times.work);
    cov_stats_add_stage(job->job.stats, "store", times.sink);
    job->job.stats->chunks = (int64_t)cov_grid_n_chunks(r.grid);
    if (!rc && !is_std)
        rc = cov_outfile_commit(&out, e);
out:
    cov_stream_abort(r.writer);
    cat_release(&r);
    cov_chunk_file_close(r.file);
    cov_outfile_end(&out, e);
    return rc;
}
