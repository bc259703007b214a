/* stream_jobs.c - see chunk_jobs.h: cat and save.
 *
 * A slot of the ring holds several records of the stream. cat reads both chunks of a pair from the
 * file and packs them into a record; save unpacks a record and encodes both chunks for the file.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/ring.h"
#include "common/chunk/stream.h"
#include "common/file/bgz.h"
#include "common/file/path.h"

/* A record of the stream, and its chunks as the file stores them. */
struct stream_piece {
    struct cov_blob record;
    struct cov_blob stored[2];   /* of a pair, by strand */
    struct cov_stream_item item; /* save: its strings are not valid */
    char *species, *sequence;    /* save: of BEGIN. Owned */
};

struct stream_slot {
    size_t first, n;             /* cat: the pairs; save: n only */
    struct stream_piece *pieces; /* [batch] */
};

/* Buffers of a worker, by strand: elements as in `from`, and as in `to`. */
struct stream_scratch {
    uint8_t *codes[2];
    uint8_t **read[2], **elems[2]; /* [n_sets] */
};

/* What both jobs have. */
struct stream_job {
    const struct cov_chunk_head *from, *to; /* cat: the same */
    struct cov_progress *progress;
    size_t batch;
};

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct stream_job *j = arg;
    struct stream_slot *s = slot;
    s->pieces = cov_arena_calloc(memory, j->batch, sizeof *s->pieces);
}

static void fini_slot(void *arg, void *slot)
{
    const struct stream_job *j = arg;
    struct stream_slot *s = slot;
    for (size_t k = 0; s->pieces && k < j->batch; k++) {
        struct stream_piece *p = &s->pieces[k];
        free(p->species);
        free(p->sequence);
        cov_blob_fini(&p->record);
        cov_blob_fini(&p->stored[COV_PLUS]);
        cov_blob_fini(&p->stored[COV_MINUS]);
    }
}

static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct stream_job *j = arg;
    struct stream_scratch *t = worker;
    (void)i;
    for (int k = COV_PLUS; k <= COV_MINUS; k++) {
        t->codes[k] = cov_arena_calloc(memory, j->to->L, 1);
        t->elems[k] = cov_rewrite_room(j->to, memory);
        t->read[k] = j->from == j->to ? t->elems[k] : cov_rewrite_room(j->from, memory);
    }
}

/* Runs the stages `ring` of a job, which begins with a struct stream_job. */
static int run_stages(void *job, struct cov_ring_job ring, struct cov_pool *pool,
                      struct cov_ring_times *times, struct cov_err *e)
{
    ring.slot_bytes = sizeof(struct stream_slot);
    ring.worker_bytes = sizeof(struct stream_scratch);
    ring.init_slot = init_slot;
    ring.fini_slot = fini_slot;
    ring.init_worker = init_worker;
    return cov_ring_run_job(pool, &ring, job, times, e);
}

/* ---- cat ---- */

struct cat {
    struct stream_job common;
    struct cov_chunk_file *file;
    const struct cov_grid *grid;
    struct cov_chunk_parts parts; /* all of a row */
    struct cov_stream_writer *writer;
    size_t n_pairs, next;
    size_t n_begun; /* sequences started; all but the last have ended */
};

static int cat_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct cat *r = arg;
    struct stream_slot *s = slot;
    size_t left = r->n_pairs - r->next;
    s->first = r->next;
    s->n = left < r->common.batch ? left : r->common.batch;
    for (size_t k = 0; k < s->n; k++) {
        struct cov_pair pair = cov_grid_pair(r->grid, s->first + k);
        for (int i = COV_PLUS; i <= COV_MINUS; i++) {
            struct cov_blob *stored = &s->pieces[k].stored[i];
            cov_blob_clear(stored);
            if (pair.rows[i] == COV_NO_ROW)
                continue;
            int rc = cov_chunk_file_fetch(r->file, pair.rows[i], r->parts, stored, e);
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
    struct stream_slot *s = slot;
    struct stream_scratch *t = worker;
    const struct cov_chunk_head *head = r->common.from;
    const uint8_t *const *elems[2] = {(const uint8_t *const *)t->elems[0],
                                      (const uint8_t *const *)t->elems[1]};
    for (size_t k = 0; k < s->n; k++) {
        struct stream_piece *p = &s->pieces[k];
        struct cov_pair pair = cov_grid_pair(r->grid, s->first + k);
        struct cov_stream_pair out = {pair.beg, pair.end, {false, false}};
        const uint8_t *codes[2] = {NULL, NULL};
        int rc = COV_OK;
        for (int i = COV_PLUS; !rc && i <= COV_MINUS; i++) {
            out.has[i] = pair.rows[i] != COV_NO_ROW;
            if (!out.has[i])
                continue;
            rc = cov_chunk_file_decode(r->file, pair.rows[i], r->parts, &p->stored[i], t->codes[i],
                                       t->elems[i], e);
            codes[i] = head->has_bases ? t->codes[i] : NULL;
        }
        if (!rc)
            rc = cov_stream_pack(head, &out, codes, elems, &p->record, e);
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
    const struct stream_slot *s = slot;
    for (size_t k = 0; k < s->n; k++) {
        int rc = move_to(r, cov_grid_pair(r->grid, s->first + k).seq, e);
        if (!rc)
            rc = cov_stream_put(r->writer, &s->pieces[k].record, e);
        if (rc)
            return rc;
    }
    cov_progress_add(r->common.progress, (int64_t)s->n);
    return COV_OK;
}

static int write_stream(struct cat *r, const char *path, bool compress, const struct cov_job *job,
                        struct cov_ring_times *times, struct cov_err *e)
{
    static const struct cov_ring_job ring = {
        .fetch = cat_fetch, .work = cat_work, .store = cat_store};
    int rc = cov_stream_create(path, r->common.from, cov_grid_is_partial(r->grid), compress,
                               cov_pool_size(job->pool), &r->writer, e);
    if (rc)
        return rc;
    cov_progress_begin(job->progress, "writing", "pairs of chunks", (int64_t)r->n_pairs);
    rc = run_stages(r, ring, job->pool, times, e);
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
    struct cat r = {.common.progress = job->job.progress};
    size_t *ks = NULL;
    bool is_std = cov_path_is_std(output);
    int rc = COV_OK;
    if (!is_std)
        rc = cov_outfile_begin(&out, output, COV_OUTFILE_STREAM, job->force, e);
    if (!rc)
        rc = cov_chunk_file_open(input, &r.file, e);
    if (rc)
        goto out;
    const struct cov_chunk_head *head = cov_chunk_file_head(r.file);
    r.common.from = r.common.to = head;
    r.common.batch = 1 + COV_REWRITE_SLOT_BASES / 2 / head->L;
    r.grid = cov_chunk_file_grid(r.file);
    r.n_pairs = cov_grid_n_pairs(r.grid);
    ks = cov_calloc(head->n_sets + 1, sizeof *ks, e);
    for (size_t k = 0; ks && k < head->n_sets; k++)
        ks[k] = k;
    r.parts = (struct cov_chunk_parts){head->has_bases, ks, head->n_sets};
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

/* ---- save ---- */

struct save {
    struct stream_job common;
    struct cov_stream *stream;
    struct cov_chunk_head to;
    struct cov_chunk_writer *writer; /* owned by `pairs` once that exists */
    struct cov_pair_writer *pairs;
    bool done;
    int64_t n_chunks;
};

static int set_text(char **to, const char *from, struct cov_err *e)
{
    free(*to);
    *to = cov_strdup(from, e);
    return *to ? COV_OK : COV_ENOMEM;
}

static int save_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct save *r = arg;
    struct stream_slot *s = slot;
    for (s->n = 0; s->n < r->common.batch && !r->done;) {
        struct stream_piece *p = &s->pieces[s->n];
        int rc = cov_stream_next(r->stream, &p->item, &p->record, e);
        r->done = !rc && p->item.event == COV_STREAM_DONE;
        if (!rc && !r->done) {
            rc = set_text(&p->species, p->item.species, e);
            if (!rc)
                rc = set_text(&p->sequence, p->item.sequence, e);
            s->n++;
        }
        if (rc)
            return rc;
    }
    return s->n > 0;
}

static int encode_pair(struct save *r, struct stream_piece *p, struct stream_scratch *t,
                       struct cov_err *e)
{
    const char *name = cov_stream_name(r->stream);
    const struct cov_chunk_head *from = r->common.from, *to = r->common.to;
    struct cov_stream_pair pair;
    uint8_t *const *const read[2] = {t->read[0], t->read[1]};
    int rc =
        cov_stream_unpack(from, name, &p->record, &pair, to->has_bases ? t->codes : NULL, read, e);
    if (rc)
        return rc;
    char where[512];
    for (int i = COV_PLUS; i <= COV_MINUS; i++) {
        cov_blob_clear(&p->stored[i]);
        if (!pair.has[i])
            continue;
        (void)snprintf(where, sizeof where, "%.200s: %.200s:%lld-%lld, %c strand", name,
                       p->sequence, (long long)pair.beg + 1, (long long)pair.end,
                       i == COV_MINUS ? '-' : '+');
        for (size_t k = 0; !rc && k < to->n_sets; k++)
            rc = cov_rewrite_elems(&from->sets[k], &to->sets[k], t->read[i][k], t->elems[i][k],
                                   where, e);
        const uint8_t *codes = t->codes[i];
        const uint8_t *const *elems = (const uint8_t *const *)t->elems[i];
        if (!rc)
            rc = cov_chunk_writer_encode(r->writer, 1, &codes, &elems, &p->stored[i], e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

static int save_work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    struct save *r = arg;
    struct stream_slot *s = slot;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < s->n; k++)
        if (s->pieces[k].item.event == COV_STREAM_PAIR)
            rc = encode_pair(r, &s->pieces[k], worker, e);
    return rc;
}

static int save_piece(struct save *r, const struct stream_piece *p, struct cov_err *e)
{
    const struct cov_stream_pair *pair = &p->item.pair;
    if (p->item.event == COV_STREAM_BEGIN)
        return cov_pair_writer_begin(r->pairs, p->species, p->sequence, e);
    if (p->item.event == COV_STREAM_END)
        return cov_pair_writer_end(r->pairs, p->item.length, e);
    int64_t n = (int64_t)pair->has[COV_PLUS] + pair->has[COV_MINUS];
    cov_progress_add(r->common.progress, n);
    r->n_chunks += n;
    return cov_pair_writer_put(r->pairs, pair->beg, pair->end,
                               pair->has[COV_PLUS] ? &p->stored[COV_PLUS] : NULL,
                               pair->has[COV_MINUS] ? &p->stored[COV_MINUS] : NULL, e);
}

static int save_store(void *arg, void *slot, struct cov_err *e)
{
    struct save *r = arg;
    const struct stream_slot *s = slot;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < s->n; k++)
        rc = save_piece(r, &s->pieces[k], e);
    return rc;
}

static int open_stream(const char *input, struct cov_stream **out, struct cov_err *e)
{
    struct cov_bgz *in = NULL;
    int rc = cov_bgz_open_read(input, 1, &in, e);
    return rc ? rc : cov_stream_open(in, out, e);
}

static int open_output(struct save *r, const struct cov_rewrite_storage *storage, const char *path,
                       const char *tmpdir, struct cov_err *e)
{
    const struct cov_chunk_writer_options options = {
        .layout = storage->has_layout ? storage->layout : COV_LAYOUT_ONEHOT,
        .compression = storage->has_compression ? storage->compression
                                                : (struct cov_codec_choice){.id = COV_CODEC_GZIP},
    };
    int rc = cov_rewrite_head(r->common.from, storage, cov_stream_name(r->stream), &r->to, e);
    if (!rc)
        rc = cov_chunk_writer_new(path, &r->to, &options, &r->writer, e);
    if (rc)
        return rc;
    struct cov_chunk_writer *w = r->writer;
    rc = cov_pair_writer_new(w, r->to.L, tmpdir, COV_PAIR_WRITER_MEMORY,
                             cov_stream_is_partial(r->stream), &r->pairs, e);
    if (rc)
        r->writer = NULL;
    return rc;
}

int cov_save(const char *input, const char *output, const struct cov_rewrite_storage *storage,
             const char *tmpdir, const struct cov_rewrite_job *job, struct cov_err *e)
{
    static const struct cov_ring_job ring = {
        .fetch = save_fetch, .work = save_work, .store = save_store};
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_ring_times times = {0};
    struct save r = {.common.progress = job->job.progress};
    bool is_std = cov_path_is_std(input);
    char *dir = tmpdir ? cov_strdup(tmpdir, e) : cov_path_dir(output, e);
    int rc =
        dir ? cov_rewrite_begin(&out, output, &input, is_std ? 0 : 1, job->force, e) : COV_ENOMEM;
    if (!rc)
        rc = open_stream(input, &r.stream, e);
    if (rc)
        goto out;
    r.common.from = cov_stream_head(r.stream);
    r.common.to = &r.to;
    r.common.batch = 2 + COV_REWRITE_SLOT_BASES / 2 / r.common.from->L;
    rc = open_output(&r, storage, out.tmp, dir, e);
    if (!rc) {
        cov_progress_begin(job->job.progress, "saving", "chunks", -1);
        rc = run_stages(&r, ring, job->job.pool, &times, e);
        cov_progress_end(job->job.progress);
    }
    double clock = cov_clock();
    if (!rc) {
        rc = cov_pair_writer_finish(r.pairs, e);
        r.pairs = NULL;
    }
    if (!rc)
        rc = cov_outfile_commit(&out, e);
    cov_stats_add_stage(job->job.stats, "read", times.source);
    cov_stats_add_stage(job->job.stats, "recode", times.work);
    cov_stats_add_stage(job->job.stats, "store", times.sink + cov_clock() - clock);
    job->job.stats->chunks = r.n_chunks;
out:
    cov_pair_writer_abort(r.pairs);
    cov_chunk_head_fini(&r.to);
    cov_stream_close(r.stream);
    cov_outfile_end(&out, e);
    free(dir);
    return rc;
}
