/* signal_input.c - see track_source.h: tracks from signal in HDF5 files or chunk streams. Pieces
 * are read in the order of the tracks, so memory is limited to one chunk per slot and the smoothing
 * window.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/signal/signal_reader.h"
#include "common/signal/track_source.h"
#include "common/track/value_pipe.h"

/* An input with more columns to read as tracks is damaged. */
enum { MOST_COLUMNS = 4096 };

struct signal_slot {
    struct cov_signal_piece piece;
    float *values; /* [n_datasets][L] */
};

struct signal_input {
    struct cov_track_source base; /* first */
    const struct cov_source_options *o;
    struct cov_signal_reader reader;
    struct cov_track_contigs contigs; /* of a file */
    size_t L;
    size_t *ks; /* [n_datasets]: numbers of the datasets in the file */
    /* [n_whole]: the same before datasets were split into columns; NULL: none were. */
    size_t *whole;
    size_t n_whole;
    /* Used during the run. */
    struct cov_pool *pool;
    struct cov_progress *progress;
    struct cov_value_pipe *pipes; /* [n_datasets] */
    int64_t n_bases;              /* so far */
    struct signal_slot *storing;  /* the slot that the pipes read */
};

/* ---------------------------------------------------------------- datasets */

static bool find_dataset(const struct cov_signal_reader *r, const char *name, size_t *k)
{
    for (*k = 0; *k < r->signal->n_parts; (*k)++)
        if (strcmp(r->signal->parts[*k].name, name) == 0)
            return true;
    return false;
}

static int fail_unknown(const struct cov_signal_reader *r, const char *name, struct cov_err *e)
{
    struct cov_listing known = {0};
    for (size_t k = 0; k < r->signal->n_parts; k++)
        cov_listing_add(&known, r->signal->parts[k].name);
    return cov_fail(e, COV_EINPUT, "%s: unknown dataset '%s'; it has: %s%s%s%s", r->signal->name,
                    name, known.text, cov_listing_more(&known),
                    r->o->chosen_with ? "; choose one with " : "",
                    r->o->chosen_with ? r->o->chosen_with : "");
}

/* Gives the source the datasets ks[0..n) of the input. Owns `ks`, even after a failure. */
static int set_datasets(struct signal_input *j, size_t *ks, size_t n, struct cov_err *e)
{
    const char **names = ks ? cov_calloc(n, sizeof *names, e) : NULL;
    if (!names) {
        free(ks);
        return COV_ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        names[i] = j->reader.signal->parts[ks[i]].name;
    free(j->ks);
    free(j->base.datasets);
    j->base.datasets = names;
    j->reader.ks = j->ks = ks;
    j->reader.n_ks = j->base.n_datasets = n;
    return COV_OK;
}

static int choose_datasets(struct signal_input *j, struct cov_err *e)
{
    const struct cov_signal_reader *r = &j->reader;
    bool all = j->o->datasets.n == 0;
    size_t n = all ? r->signal->n_parts : j->o->datasets.n;
    if (n == 0)
        return cov_fail(e, COV_EINPUT, "%s: no datasets", r->signal->name);
    size_t *ks = cov_calloc(n, sizeof *ks, e);
    for (size_t i = 0; ks && i < n; i++) {
        ks[i] = i;
        if (all || find_dataset(r, j->o->datasets.items[i], &ks[i]))
            continue;
        free(ks);
        return fail_unknown(r, j->o->datasets.items[i], e);
    }
    int rc = set_datasets(j, ks, n, e);
    for (size_t i = 0; !rc && i < n; i++)
        for (size_t h = 0; !rc && h < i; h++)
            if (strcmp(j->base.datasets[h], j->base.datasets[i]) == 0)
                rc = cov_fail(e, COV_EINPUT, "%s: duplicate dataset '%s'", r->signal->name,
                              j->base.datasets[i]);
    return rc;
}

/* Replaces the datasets with several columns by these. */
static int split_datasets(struct signal_input *j, struct cov_err *e)
{
    struct cov_signal *s = j->reader.signal;
    size_t n = 0;
    for (size_t i = 0; i < j->base.n_datasets; i++)
        n += s->parts[j->ks[i]].n_cols;
    if (n > MOST_COLUMNS)
        return cov_fail(e, COV_EINPUT, "%s: %zu columns are too many", s->name, n);
    size_t *ks = cov_calloc(n, sizeof *ks, e), at = 0;
    int rc = ks ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < j->base.n_datasets; i++) {
        const size_t n_columns = s->parts[j->ks[i]].n_cols;
        const size_t first = n_columns > 1 ? s->n_parts : j->ks[i];
        if (n_columns > 1)
            rc = cov_signal_split(s, j->ks[i], e);
        for (size_t c = 0; !rc && c < n_columns; c++)
            ks[at++] = first + c;
    }
    if (rc) {
        free(ks);
        return rc;
    }
    j->whole = j->ks;
    j->n_whole = j->base.n_datasets;
    j->ks = NULL;
    return set_datasets(j, ks, n, e);
}

/* ---------------------------------------------------------------- work */

static int signal_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct signal_input *j = arg;
    if (j->reader.done)
        return 0;
    int rc = cov_signal_reader_next(&j->reader, &((struct signal_slot *)slot)->piece, e);
    return rc ? rc : 1;
}

/* Leaves a base without a value if it has none on a needed strand. */
static void find_gaps(const float *plus, const float *minus, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        if ((plus && plus[i] == COV_SIGNAL_PAD) || (minus && minus[n - 1 - i] == COV_SIGNAL_PAD))
            out[i] = COV_SIGNAL_PAD;
}

/* A worker's buffer is a pointer to values[2][n_datasets][L]. */
static int signal_work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    struct signal_input *j = arg;
    struct signal_slot *s = slot;
    struct cov_signal_piece *p = &s->piece;
    float *out = s->values, *plus = *(float **)worker;
    float *minus = plus + j->base.n_datasets * j->L;
    float *const values[2] = {cov_signal_needs(j->o, COV_PLUS) ? plus : NULL,
                              cov_signal_needs(j->o, COV_MINUS) ? minus : NULL};
    if (p->n == 0)
        return COV_OK;
    int rc = cov_signal_reader_decode(&j->reader, p, values, e);
    for (size_t k = 0; k < j->base.n_datasets && !rc; k++) {
        size_t at = k * j->L;
        cov_strands_combine(j->o->strand, plus + at, minus + at, p->n, j->pipes[k].round, out + at);
        if (j->reader.signal->has_gaps)
            find_gaps(values[COV_PLUS] ? plus + at : NULL, values[COV_MINUS] ? minus + at : NULL,
                      p->n, out + at);
    }
    return rc;
}

/* ---------------------------------------------------------------- the sinks */

static int begin_contig(const struct signal_input *j, struct cov_value_pipe *pipe,
                        const struct cov_signal_piece *p, struct cov_err *e)
{
    int rc = j->reader.signal->grid ? cov_track_begin(pipe->sink, p->number, e)
                                    : cov_track_begin_named(pipe->sink, p->contig.name, e);
    if (!rc)
        cov_value_pipe_begin(pipe, p->contig.regions, p->contig.n_regions);
    return rc;
}

static int end_contig(const struct signal_input *j, struct cov_value_pipe *pipe,
                      const struct cov_signal_piece *p, struct cov_err *e)
{
    int rc = cov_value_pipe_end(pipe, e);
    return rc || j->reader.signal->grid ? rc : cov_track_end_contig(pipe->sink, p->length, e);
}

/* Adds n values from base `beg` on, which may have gaps between them. */
static int add_stretches(struct cov_value_pipe *pipe, int64_t beg, float *x, size_t n,
                         struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0, k; !rc && i < n; i = k) {
        while (i < n && x[i] == COV_SIGNAL_PAD)
            i++;
        for (k = i; k < n && x[k] != COV_SIGNAL_PAD;)
            k++;
        if (k > i)
            rc = cov_value_pipe_add(pipe, beg + (int64_t)i, x + i, k - i, e);
    }
    return rc;
}

/* Adds the current slot to dataset k. */
static int take_slot(void *arg, size_t k, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct signal_input *j = arg;
    struct cov_value_pipe *pipe = &j->pipes[k];
    const struct cov_signal_piece *p = &j->storing->piece;
    int rc = p->ends ? end_contig(j, pipe, p, e) : COV_OK;
    if (!rc && p->begins)
        rc = begin_contig(j, pipe, p, e);
    if (rc || p->n == 0)
        return rc;
    float *values = j->storing->values + k * j->L;
    return j->reader.signal->has_gaps ? add_stretches(pipe, p->beg, values, p->n, e)
                                      : cov_value_pipe_add(pipe, p->beg, values, p->n, e);
}

static int close_sink(void *arg, size_t k, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct signal_input *j = arg;
    return cov_track_close(j->pipes[k].sink, e);
}

/* Runs fn for each dataset: in this thread if there is only one dataset, otherwise in the
 * pool. */
static int for_pipes(struct signal_input *j, cov_task_fn *fn, struct cov_err *e)
{
    return j->base.n_datasets == 1 ? fn(j, 0, 0, e)
                                   : cov_pool_for(j->pool, j->base.n_datasets, fn, j, e);
}

static int signal_store(void *arg, void *slot, struct cov_err *e)
{
    struct signal_input *j = arg;
    j->storing = slot;
    int rc = for_pipes(j, take_slot, e);
    j->n_bases += (int64_t)j->storing->piece.n;
    cov_progress_add(j->progress, (int64_t)j->storing->piece.n);
    return rc;
}

/* ---------------------------------------------------------------- the run */

/* Returns true if the mean of the columns and strands of dataset k is rounded. */
static bool rounds(const struct signal_input *j, size_t k)
{
    return j->o->measured ? !j->o->values.unrounded
                          : !cov_signal_is_float(j->reader.signal, j->ks[k]);
}

static int prepare_pipes(struct signal_input *j, struct cov_track_sink *const *sinks,
                         struct cov_err *e)
{
    j->pipes = cov_calloc(j->base.n_datasets, sizeof *j->pipes, e);
    int rc = j->pipes ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < j->base.n_datasets; k++) {
        rc = cov_value_pipe_init(&j->pipes[k], &j->o->values, rounds(j, k), sinks[k], e);
        j->pipes[k].scale *= j->o->factors ? j->o->factors[k] : 1;
        j->pipes[k].operands = j->o->operands ? &j->o->operands[k] : NULL;
    }
    return rc;
}

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct signal_input *j = arg;
    ((struct signal_slot *)slot)->values = cov_arena_values(memory, j->base.n_datasets, j->L, 1);
}

static void fini_slot(void *arg, void *slot)
{
    (void)arg;
    cov_signal_piece_fini(&((struct signal_slot *)slot)->piece);
}

static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct signal_input *j = arg;
    (void)i;
    *(float **)worker = cov_arena_values(memory, j->base.n_datasets, j->L, 2);
}

/* A partial file may be a shard that should be merged first. */
static void warn_about_gaps(const struct signal_input *j, int64_t n_present)
{
    int64_t n = 0;
    for (size_t i = 0; n_present >= 0 && i < j->reader.n_contigs; i++)
        n += j->reader.contigs[i].is_empty ? 0 : j->reader.lengths[i];
    if (n_present >= 0 && n_present < n)
        cov_warn("%s: partial file: it has %s%lld of %lld bases", j->reader.signal->name,
                 j->reader.signal->has_gaps ? "at most " : "", (long long)n_present, (long long)n);
}

static int signal_run(struct cov_track_source *source_base, struct cov_track_sink *const *sinks,
                      const char *what, const struct cov_job *job, struct cov_err *e)
{
    struct signal_input *j = (struct signal_input *)source_base;
    struct cov_stats *stats = job->stats;
    static const struct cov_ring_job ring = {
        .fetch = signal_fetch,
        .work = signal_work,
        .store = signal_store,
        .slot_bytes = sizeof(struct signal_slot),
        .worker_bytes = sizeof(float *),
        .init_slot = init_slot,
        .fini_slot = fini_slot,
        .init_worker = init_worker,
    };
    struct cov_ring_times times = {0};
    int64_t n_present = cov_signal_reader_count(&j->reader);
    j->pool = job->pool;
    j->progress = job->progress;
    int rc = prepare_pipes(j, sinks, e);
    if (rc)
        return rc;
    if (!j->o->quiet)
        warn_about_gaps(j, n_present);
    cov_progress_begin(j->progress, what, "bp", n_present);
    rc = cov_ring_run_job(j->pool, &ring, j, &times, e);
    double beg = cov_clock();
    if (!rc)
        rc = cov_signal_reader_check(&j->reader, e);
    if (!rc)
        rc = for_pipes(j, close_sink, e);
    cov_progress_end(j->progress);
    if (stats) {
        stats->bases = j->n_bases;
        stats->chunks = j->reader.n_chunks;
        cov_stats_add_stage(stats, "read", times.source);
        cov_stats_add_stage(stats, "decode", times.work);
        cov_stats_add_stage(stats, "tracks", times.sink);
        cov_stats_add_stage(stats, "finish", cov_clock() - beg);
    }
    return rc;
}

/* ---------------------------------------------------------------- opening and closing */

static int keep(struct cov_track_source *s, const size_t *which, size_t n, struct cov_err *e)
{
    struct signal_input *j = (struct signal_input *)s;
    size_t *ks = cov_calloc(n, sizeof *ks, e);
    for (size_t i = 0; ks && i < n; i++)
        ks[i] = j->ks[which[i]];
    return set_datasets(j, ks, n, e);
}

static double denominator(const struct cov_track_source *s, size_t k)
{
    const struct signal_input *j = (const struct signal_input *)s;
    const struct cov_value_rules *v = &j->o->values;
    bool changes = v->smoothing.window > 0 || v->smoothing.sd > 0 || j->o->factors ||
                   v->scale != 1 || v->bin > 1;
    if (changes || (!rounds(j, k) && cov_signal_is_float(j->reader.signal, j->ks[k])))
        return 0;
    return rounds(j, k) ? 1
                        : (double)j->reader.signal->parts[j->ks[k]].n_cols *
                              (j->o->strand == COV_STRAND_AVG ? 2 : 1);
}

static bool rows(const struct cov_track_source *s, struct cov_source_rows *out)
{
    const struct cov_signal_reader *r = &((const struct signal_input *)s)->reader;
    if (!r->signal->h5)
        return false;
    *out = (struct cov_source_rows){r->signal->h5, r->signal->grid, r->contigs, r->n_contigs};
    return true;
}

static int describe(const struct cov_track_source *s, struct cov_stats *stats, struct cov_err *e)
{
    const struct signal_input *j = (const struct signal_input *)s;
    return j->whole ? cov_signal_reader_add_sources(&j->reader, j->whole, j->n_whole, stats, e)
                    : cov_signal_reader_add_sources(&j->reader, j->ks, s->n_datasets, stats, e);
}

static void close_input(struct cov_track_source *s)
{
    struct signal_input *j = (struct signal_input *)s;
    for (size_t k = 0; j->pipes && k < s->n_datasets; k++)
        cov_value_pipe_fini(&j->pipes[k]);
    free(j->ks);
    free(j->whole);
    free(s->datasets);
    free(j->pipes);
    cov_signal_reader_close(&j->reader);
    free(j);
}

int cov_signal_input_open(const char *path, struct cov_bgz *in, const struct cov_source_options *o,
                          struct cov_track_source **out, struct cov_err *e)
{
    static const struct cov_source_type type = {keep, signal_run, denominator,
                                                rows, describe,   close_input};
    *out = NULL;
    struct signal_input *j = cov_calloc(1, sizeof *j, e);
    if (!j) {
        cov_bgz_abort(in);
        return COV_ENOMEM;
    }
    struct cov_signal_reader *r = &j->reader;
    j->o = o;
    j->base.type = &type;
    int rc = cov_signal_reader_open(r, path, in, o, e);
    if (!rc && o->sizes_path)
        rc = cov_fail(e, COV_EINPUT, "--chrom-sizes is for bedGraph; %s has the lengths",
                      r->signal->name);
    if (!rc && o->fill_gaps)
        rc = cov_fail(e, COV_EINPUT, "--fill-gaps is for bigWig and bedGraph; %s is neither",
                      r->signal->name);
    if (!rc) {
        j->L = r->signal->head->L;
        j->contigs = (struct cov_track_contigs){r->n_contigs, r->names, r->lengths};
        j->base.name = r->signal->name;
        j->base.label = o->measured ? "measured" : "predicted";
        j->base.has_lengths = true;
        j->base.contigs = r->signal->grid ? &j->contigs : NULL;
        rc = choose_datasets(j, e);
    }
    if (!rc && o->replicates)
        rc = split_datasets(j, e);
    if (rc)
        close_input(&j->base);
    else
        *out = &j->base;
    return rc;
}
