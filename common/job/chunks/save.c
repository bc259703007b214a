/* save.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/chunk/pair_writer.h"
#include "common/chunk/stream.h"
#include "common/file/bgz.h"
#include "common/file/path.h"

/* A record of the stream. */
struct save_piece {
    struct cov_stream_item item; /* its strings are not valid */
    char *species, *sequence;    /* of BEGIN. Owned */
    struct cov_blob record;      /* of PAIR */
    struct cov_blob encoded[2];  /* of PAIR, by strand */
};

struct save_slot {
    size_t n;
    struct save_piece *pieces; /* [batch] */
};

/* Buffers of a worker, by strand: elements as read, and as written. */
struct save_scratch {
    uint8_t *codes[2];
    uint8_t **read[2], **elems[2]; /* [n_sets] */
};

struct save {
    struct cov_stream *stream;
    const struct cov_chunk_head *from;
    struct cov_chunk_head to;
    struct cov_chunk_writer *writer; /* owned by `pairs` once that exists */
    struct cov_pair_writer *pairs;
    struct cov_progress *progress;
    bool done;
    char *sequence; /* the current one, for messages */
    size_t batch;
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
    struct save_slot *s = slot;
    for (s->n = 0; s->n < r->batch && !r->done;) {
        struct save_piece *p = &s->pieces[s->n];
        int rc = cov_stream_next(r->stream, &p->item, &p->record, e);
        if (!rc && p->item.event == COV_STREAM_BEGIN) {
            rc = set_text(&p->species, p->item.species, e);
            if (!rc)
                rc = set_text(&r->sequence, p->item.sequence, e);
        }
        if (!rc && p->item.event != COV_STREAM_DONE)
            rc = set_text(&p->sequence, r->sequence ? r->sequence : "", e);
        if (rc)
            return rc;
        r->done = p->item.event == COV_STREAM_DONE;
        s->n += !r->done;
    }
    return s->n > 0;
}

static int encode_pair(struct save *r, struct save_piece *p, struct save_scratch *t,
                       struct cov_err *e)
{
    const char *name = cov_stream_name(r->stream);
    struct cov_stream_pair pair;
    uint8_t *const *const read[2] = {t->read[0], t->read[1]};
    int rc = cov_stream_unpack(r->from, name, &p->record, &pair, r->to.has_bases ? t->codes : NULL,
                               read, e);
    if (rc)
        return rc;
    char where[512];
    for (int i = COV_PLUS; i <= COV_MINUS; i++) {
        cov_blob_clear(&p->encoded[i]);
        if (!pair.has[i])
            continue;
        (void)snprintf(where, sizeof where, "%.200s: %.200s:%lld-%lld, %c strand", name,
                       p->sequence, (long long)pair.beg + 1, (long long)pair.end,
                       i == COV_MINUS ? '-' : '+');
        for (size_t k = 0; !rc && k < r->to.n_sets; k++)
            rc = cov_rewrite_elems(&r->from->sets[k], &r->to.sets[k], t->read[i][k], t->elems[i][k],
                                   where, e);
        const uint8_t *codes = t->codes[i];
        const uint8_t *const *elems = (const uint8_t *const *)t->elems[i];
        if (!rc)
            rc = cov_chunk_writer_encode(r->writer, 1, &codes, &elems, &p->encoded[i], e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

static int save_work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    struct save *r = arg;
    struct save_slot *s = slot;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < s->n; k++)
        if (s->pieces[k].item.event == COV_STREAM_PAIR)
            rc = encode_pair(r, &s->pieces[k], worker, e);
    return rc;
}

static int save_put(struct save *r, const struct save_piece *p, struct cov_err *e)
{
    const struct cov_stream_pair *pair = &p->item.pair;
    if (p->item.event == COV_STREAM_BEGIN)
        return cov_pair_writer_begin(r->pairs, p->species, p->sequence, e);
    if (p->item.event == COV_STREAM_END)
        return cov_pair_writer_end(r->pairs, p->item.length, e);
    int64_t n = (int64_t)pair->has[COV_PLUS] + pair->has[COV_MINUS];
    cov_progress_add(r->progress, n);
    r->n_chunks += n;
    return cov_pair_writer_put(r->pairs, pair->beg, pair->end,
                               pair->has[COV_PLUS] ? &p->encoded[COV_PLUS] : NULL,
                               pair->has[COV_MINUS] ? &p->encoded[COV_MINUS] : NULL, e);
}

static int save_store(void *arg, void *slot, struct cov_err *e)
{
    struct save *r = arg;
    struct save_slot *s = slot;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < s->n; k++)
        rc = save_put(r, &s->pieces[k], e);
    return rc;
}

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct save *r = arg;
    struct save_slot *s = slot;
    s->pieces = cov_arena_calloc(memory, r->batch, sizeof *s->pieces);
}

static void fini_slot(void *arg, void *slot)
{
    const struct save *r = arg;
    struct save_slot *s = slot;
    for (size_t k = 0; s->pieces && k < r->batch; k++) {
        struct save_piece *p = &s->pieces[k];
        free(p->species);
        free(p->sequence);
        cov_blob_fini(&p->record);
        cov_blob_fini(&p->encoded[COV_PLUS]);
        cov_blob_fini(&p->encoded[COV_MINUS]);
    }
}

static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct save *r = arg;
    struct save_scratch *t = worker;
    (void)i;
    for (int k = COV_PLUS; k <= COV_MINUS; k++) {
        t->codes[k] = cov_arena_calloc(memory, r->to.L, 1);
        t->read[k] = cov_rewrite_room(r->from, memory);
        t->elems[k] = cov_rewrite_room(&r->to, memory);
    }
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
    int rc = cov_rewrite_head(r->from, storage, cov_stream_name(r->stream), &r->to, e);
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
        .fetch = save_fetch,
        .work = save_work,
        .store = save_store,
        .slot_bytes = sizeof(struct save_slot),
        .worker_bytes = sizeof(struct save_scratch),
        .init_slot = init_slot,
        .fini_slot = fini_slot,
        .init_worker = init_worker,
    };
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_ring_times times = {0};
    struct save r = {.progress = job->job.progress};
    bool is_std = cov_path_is_std(input);
    char *dir = tmpdir ? cov_strdup(tmpdir, e) : cov_path_dir(output, e);
    int rc =
        dir ? cov_rewrite_begin(&out, output, &input, is_std ? 0 : 1, job->force, e) : COV_ENOMEM;
    if (!rc)
        rc = open_stream(input, &r.stream, e);
    if (rc)
        goto out;
    r.from = cov_stream_head(r.stream);
    r.batch = 2 + COV_REWRITE_SLOT_BASES / 2 / r.from->L;
    rc = open_output(&r, storage, out.tmp, dir, e);
    if (!rc) {
        cov_progress_begin(job->job.progress, "saving", "chunks", -1);
        rc = cov_ring_run_job(job->job.pool, &ring, &r, &times, e);
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
    free(r.sequence);
    cov_chunk_head_fini(&r.to);
    cov_stream_close(r.stream);
    cov_outfile_end(&out, e);
    free(dir);
    return rc;
}
