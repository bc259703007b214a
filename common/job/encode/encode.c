/* encode.c - see encode.h.
 *
 * One pipeline: the calling thread parses and writes, the pool encodes. A slot of the ring holds
 * several pairs to reduce the cost of synchronisation.
 * SPDX-License-Identifier: MIT */
#include "common/job/encode/encode.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/ring.h"
#include "common/chunk/bases.h"
#include "common/chunk/chunk_file.h"
#include "common/chunk/stream.h"
#include "common/deflate/onehot_deflate.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/seq/alphabet.h"

/* Bases and pairs per slot, and the number of pairs that are read back at the end in addition to
 * the last one. */
enum { SLOT_BASES = 1 << 18, SLOT_PAIRS = 16, SAMPLE = 16 };

/* Extra slots, which keep the workers busy while the - chunks of a sequence are written at its end.
 * There are fewer if chunks are so long that a slot has more than SLOT_BASES. */
enum { MORE_SLOTS = 24 };

/* A pair to be read back: its number and the fingerprint of its + chunk. */
struct sample {
    size_t pair;
    uint64_t fingerprint;
};

struct encode_piece {
    struct cov_fasta_pair pair;
    size_t name; /* offset in the slot's names; set for the first pair of a sequence */
    bool sampled;
    uint64_t fingerprint; /* of the + chunk; set if it is needed */
};

struct encode_slot {
    struct encode_piece pieces[SLOT_PAIRS];
    size_t n;
    struct cov_blob blobs[SLOT_PAIRS][2]; /* file: by strand; stream: [0] is the record */
    uint8_t *codes;                       /* L per pair */
    char *names;
    size_t n_names, cap_names;
};

struct encode_run {
    const struct cov_encode_options *options;
    size_t L, slot_pairs;
    struct cov_fasta_pairs *fasta;
    bool at_end;
    struct cov_progress *progress;
    int64_t done; /* bytes of the FASTA reported to progress */
    struct cov_stats *stats;

    /* Either `file` (with `writer`) or `stream`. */
    struct cov_chunk_writer *writer; /* owned by `file` */
    struct cov_pair_writer *file;
    struct cov_stream_writer *stream;
    struct cov_chunk_head head;

    size_t n_read, n_written; /* pairs */
    struct sample samples[SAMPLE], last;
    size_t n_samples, sample_step; /* every sample_step-th pair is sampled */
};

/* ---- the stages ---- */

static int keep_name(struct encode_slot *s, struct encode_piece *piece, struct cov_err *e)
{
    size_t n = strlen(piece->pair.name) + 1;
    int rc = COV_RESERVE(&s->names, &s->cap_names, s->n_names + n, e);
    if (rc)
        return rc;
    memcpy(s->names + s->n_names, piece->pair.name, n);
    piece->name = s->n_names;
    s->n_names += n;
    return COV_OK;
}

static int encode_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct encode_run *r = arg;
    struct encode_slot *s = slot;
    s->n = s->n_names = 0;
    while (s->n < r->slot_pairs && !r->at_end) {
        struct encode_piece *piece = &s->pieces[s->n];
        int got = cov_fasta_pairs_next(r->fasta, &piece->pair, s->codes + r->L * s->n, e);
        if (got < 0)
            return got;
        r->at_end = got == 0;
        if (got == 0)
            break;
        if (piece->pair.first) {
            int rc = keep_name(s, piece, e);
            if (rc)
                return rc;
        }
        piece->sampled = r->n_read++ % r->sample_step == 0;
        s->n++;
    }
    int64_t done = cov_fasta_pairs_done(r->fasta);
    cov_progress_add(r->progress, done - r->done);
    r->done = done;
    return s->n > 0;
}

static int encode_work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct encode_run *r = arg;
    struct encode_slot *s = slot;
    int rc = COV_OK;
    for (size_t i = 0; i < s->n && !rc; i++) {
        struct encode_piece *piece = &s->pieces[i];
        const struct cov_fasta_pair *pair = &piece->pair;
        const uint8_t *codes = s->codes + r->L * i;
        if (piece->sampled || pair->last)
            piece->fingerprint = cov_bases_fingerprint(codes, (size_t)(pair->end - pair->beg));
        if (r->stream) {
            const struct cov_stream_pair both = {pair->beg, pair->end, {true, true}};
            const uint8_t *const strands[2] = {codes, NULL};
            rc = cov_stream_pack(&r->head, &both, strands, NULL, &s->blobs[i][0], e);
        } else {
            const struct cov_both_strands both = {codes, (size_t)(pair->end - pair->beg),
                                                  *(uint8_t **)worker, s->blobs[i]};
            rc = cov_bases_encode_both(cov_chunk_writer_bases(r->writer), &both, e);
        }
    }
    return rc;
}

/* Adds a written pair to the sample to be read back. */
static void add_sample(struct encode_run *r, const struct encode_piece *piece)
{
    struct sample sample = {r->n_written++, piece->fingerprint};
    if (piece->pair.last)
        r->last = sample;
    if (!piece->sampled || sample.pair % r->sample_step)
        return;
    if (r->n_samples == SAMPLE) {
        r->sample_step *= 2;
        r->n_samples /= 2;
        for (size_t i = 0; i < r->n_samples; i++)
            r->samples[i] = r->samples[2 * i];
        if (sample.pair % r->sample_step)
            return;
    }
    r->samples[r->n_samples++] = sample;
}

static int encode_put(struct encode_run *r, const struct encode_slot *s,
                      const struct encode_piece *piece, const struct cov_blob *blobs,
                      struct cov_err *e)
{
    const struct cov_fasta_pair *p = &piece->pair;
    const char *species = r->options->species, *name = s->names + piece->name;
    int rc = COV_OK;
    if (p->first)
        rc = r->stream ? cov_stream_begin(r->stream, species, name, e)
                       : cov_pair_writer_begin(r->file, species, name, e);
    if (!rc)
        rc = r->stream ? cov_stream_put(r->stream, &blobs[0], e)
                       : cov_pair_writer_put(r->file, p->beg, p->end, &blobs[COV_PLUS],
                                             &blobs[COV_MINUS], e);
    if (!rc && p->last)
        rc = r->stream ? cov_stream_end(r->stream, p->end, e)
                       : cov_pair_writer_end(r->file, p->end, e);
    return rc;
}

static int encode_store(void *arg, void *slot, struct cov_err *e)
{
    struct encode_run *r = arg;
    const struct encode_slot *s = slot;
    for (size_t i = 0; i < s->n; i++) {
        const struct encode_piece *piece = &s->pieces[i];
        int rc = encode_put(r, s, piece, s->blobs[i], e);
        if (rc)
            return rc;
        add_sample(r, piece);
        r->stats->bases += piece->pair.end - piece->pair.beg;
        r->stats->chunks += 2;
    }
    return COV_OK;
}

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct encode_run *r = arg;
    struct encode_slot *s = slot;
    s->codes = cov_arena_calloc(memory, r->slot_pairs, r->L);
}

static void fini_slot(void *arg, void *slot)
{
    struct encode_slot *s = slot;
    (void)arg;
    for (size_t k = 0; k < SLOT_PAIRS; k++) {
        cov_blob_fini(&s->blobs[k][0]);
        cov_blob_fini(&s->blobs[k][1]);
    }
    free(s->names);
}

/* A worker's buffer is a pointer to the scratch of cov_bases_encode_both. */
static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct encode_run *r = arg;
    (void)i;
    *(uint8_t **)worker = cov_arena_calloc(memory, cov_onehot_scratch(r->L), 1);
}

/* ---- reading back ---- */

static int check_pair(struct cov_chunk_file *f, const struct sample *sample, struct cov_blob *raw,
                      uint8_t *codes, bool *same, struct cov_err *e)
{
    struct cov_pair pair = cov_grid_pair(cov_chunk_file_grid(f), sample->pair);
    size_t n = (size_t)(pair.end - pair.beg);
    int rc = COV_OK;
    for (size_t strand = COV_PLUS; strand <= COV_MINUS && *same && !rc; strand++) {
        cov_blob_clear(raw);
        *same = pair.rows[strand] != COV_NO_ROW;
        if (!*same)
            return COV_OK;
        rc = cov_chunk_file_fetch(f, pair.rows[strand], COV_CHUNK_BASES, raw, e);
        if (!rc)
            rc = cov_chunk_file_decode(f, pair.rows[strand], COV_CHUNK_BASES, raw, codes, NULL, e);
        if (rc)
            return rc;
        if (strand == COV_MINUS)
            cov_codes_reverse_complement(codes, n);
        *same = cov_bases_fingerprint(codes, n) == sample->fingerprint;
    }
    return rc;
}

/* Reads back a sample of the file, including the first and last pair. */
static int verify(const struct encode_run *r, const char *path, struct cov_err *e)
{
    struct cov_chunk_file *f = NULL;
    struct cov_blob raw = COV_BLOB_INIT;
    uint8_t *codes = cov_malloc(r->L, 1, e);
    int rc = codes ? cov_chunk_file_open(path, &f, e) : COV_ENOMEM;
    if (!rc) {
        const struct cov_grid *grid = cov_chunk_file_grid(f);
        bool same = cov_grid_n_pairs(grid) == r->n_written &&
                    cov_grid_n_chunks(grid) == 2 * r->n_written &&
                    cov_grid_chunk_length(grid) == r->L;
        for (size_t i = 0; i <= r->n_samples && same && !rc; i++)
            rc = check_pair(f, i < r->n_samples ? &r->samples[i] : &r->last, &raw, codes, &same, e);
        if (!rc && !same)
            rc = cov_fail(e, COV_EIO, "%s: data read back differs from data written", path);
    }
    cov_chunk_file_close(f);
    cov_blob_fini(&raw);
    free(codes);
    return rc;
}

/* ---- the job ---- */

static int open_output(struct encode_run *r, const char *tmp, const char *fasta, struct cov_err *e)
{
    const struct cov_encode_options *o = r->options;
    const struct cov_chunk_writer_options options = {.layout = o->layout,
                                                     .compression = o->compression};
    r->head.L = r->L;
    r->head.has_bases = true;
    int rc = cov_chunk_head_add_attr(&r->head, NULL, "input_path", fasta, e);
    if (rc)
        return rc;
    if (!tmp)
        return cov_stream_create("-", &r->head, false, false, 1, &r->stream, e);
    rc = cov_chunk_writer_new(tmp, &r->head, &options, &r->writer, e);
    if (!rc)
        rc = cov_pair_writer_new(r->writer, r->L, o->genome.tmpdir, COV_PAIR_WRITER_MEMORY, false,
                                 &r->file, e);
    return rc;
}

static int finish_output(struct encode_run *r, struct cov_err *e)
{
    int rc = r->stream ? cov_stream_finish(r->stream, e) : cov_pair_writer_finish(r->file, e);
    r->stream = NULL;
    r->file = NULL;
    return rc;
}

static int convert(struct encode_run *r, const char *fasta, const char *tmp, struct cov_pool *pool,
                   struct cov_err *e)
{
    struct cov_ring_job ring = {
        .fetch = encode_fetch,
        .work = encode_work,
        .store = encode_store,
        .slot_bytes = sizeof(struct encode_slot),
        .worker_bytes = sizeof(uint8_t *),
        .init_slot = init_slot,
        .fini_slot = fini_slot,
        .init_worker = init_worker,
    };
    struct cov_ring_times times = {0};
    int rc = cov_fasta_pairs_open(fasta, &r->options->genome, r->L, &r->fasta, e);
    if (!rc)
        rc = open_output(r, tmp, fasta, e);
    if (rc)
        return rc;
    r->slot_pairs = r->L < SLOT_BASES ? SLOT_BASES / r->L : 1;
    if (r->slot_pairs > SLOT_PAIRS)
        r->slot_pairs = SLOT_PAIRS;
    size_t n_codes = r->L * r->slot_pairs;
    ring.n_slots = cov_ring_slots(pool) +
                   (n_codes > SLOT_BASES ? MORE_SLOTS * (size_t)SLOT_BASES / n_codes : MORE_SLOTS);
    r->stats->bases = r->stats->chunks = 0;
    cov_progress_begin(r->progress, "converting", "bytes", cov_fasta_pairs_total(r->fasta));
    rc = cov_ring_run_job(pool, &ring, r, &times, e);
    cov_progress_end(r->progress);
    double clock = cov_clock();
    if (!rc)
        rc = finish_output(r, e);
    times.sink += cov_clock() - clock;
    cov_stats_add_stage(r->stats, "parse", times.source);
    cov_stats_add_stage(r->stats, "encode", times.work);
    cov_stats_add_stage(r->stats, tmp ? "hdf5" : "output", times.sink);
    return rc;
}

int cov_encode_fasta(const char *fasta, const char *output, bool force,
                     const struct cov_encode_options *options, const struct cov_job *job,
                     struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct encode_run r = {.options = options,
                           .L = options->chunk_length,
                           .progress = job->progress,
                           .stats = job->stats,
                           .sample_step = 1};
    bool stream = cov_path_is_std(output);
    int rc = COV_OK;
    /* Open the output first, so that a failure is not reported after a long read. */
    if (!stream)
        rc = cov_outfile_begin(&out, output, COV_OUTFILE_HDF5, force, e);
    if (!rc)
        rc = convert(&r, fasta, stream ? NULL : out.tmp, job->pool, e);
    double clock = cov_clock();
    if (!rc && !stream) {
        rc = verify(&r, out.tmp, e);
        cov_stats_add_stage(job->stats, "verify", cov_clock() - clock);
        clock = cov_clock();
    }
    if (!rc && !stream) {
        rc = cov_outfile_commit(&out, e);
        cov_stats_add_stage(job->stats, "output", cov_clock() - clock);
    }
    cov_stream_abort(r.stream);
    cov_pair_writer_abort(r.file);
    cov_fasta_pairs_free(r.fasta);
    cov_chunk_head_fini(&r.head);
    cov_outfile_end(&out, e);
    return rc;
}
