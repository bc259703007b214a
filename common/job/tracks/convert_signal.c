/* convert_signal.c - see convert_signal.h. Pieces come from the reader in the order of the tracks, so
 * that no stage holds more than a chunk a slot and a window.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/convert_signal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/job/tracks/convert_lane.h"
#include "common/job/tracks/convert_reader.h"

struct slot {
    struct cov_convert_piece piece;
    float *values; /* [n_lanes][L] */
};

struct cov_convert_signal {
    const struct cov_convert_options *o;
    struct cov_convert_reader reader;
    struct cov_track_contigs contigs; /* of a file */
    size_t L;
    bool gaps; /* some bases have no value */
    /* Data sets. */
    size_t n_lanes;
    size_t *ks; /* their numbers in the file */
    const char **datasets;
    /* Of the run. */
    struct cov_pool *pool;
    struct cov_progress *progress;
    struct cov_convert_lane *lanes;
    int64_t n_bases; /* so far */
    size_t n_slots;
    struct slot *slots;
    float **scratch; /* of each worker: [2][n_lanes][L] */
    unsigned n_workers;
    struct slot *sinking; /* what the lanes take at the moment */
};

/* ---------------------------------------------------------------- data sets */

static bool find_dataset(const struct cov_signal_source *f, const char *name, size_t *k)
{
    for (*k = 0; *k < cov_signal_source_n_datasets(f); (*k)++)
        if (strcmp(cov_signal_source_dataset(f, *k), name) == 0)
            return true;
    return false;
}

/* "a, b, c" as far as it fits. */
static void list_datasets(const struct cov_signal_source *f, char *text, size_t size)
{
    size_t n = 0;
    *text = '\0';
    for (size_t k = 0; k < cov_signal_source_n_datasets(f) && n < size; k++) {
        int m =
            snprintf(text + n, size - n, "%s%s", k ? ", " : "", cov_signal_source_dataset(f, k));
        n += m > 0 ? (size_t)m : size;
    }
}

static int choose_datasets(struct cov_convert_signal *j, struct cov_err *e)
{
    bool all = j->o->n_datasets == 0;
    j->n_lanes = all ? cov_signal_source_n_datasets(j->reader.source) : j->o->n_datasets;
    if (j->n_lanes == 0)
        return cov_fail(e, COV_EINPUT, "%s: it has no data sets", j->reader.name);
    j->ks = cov_calloc(j->n_lanes, sizeof *j->ks, e);
    j->datasets = cov_calloc(j->n_lanes, sizeof *j->datasets, e);
    if (!j->ks || !j->datasets)
        return COV_ENOMEM;
    for (size_t i = 0; i < j->n_lanes; i++) {
        j->ks[i] = i;
        if (!all && !find_dataset(j->reader.source, j->o->datasets[i], &j->ks[i])) {
            char known[256];
            list_datasets(j->reader.source, known, sizeof known);
            return cov_fail(e, COV_EUSAGE, "%s: there is no data set '%s'; it has: %s",
                            j->reader.name, j->o->datasets[i], known);
        }
        j->datasets[i] = cov_signal_source_dataset(j->reader.source, j->ks[i]);
        for (size_t h = 0; h < i; h++)
            if (strcmp(j->datasets[h], j->datasets[i]) == 0)
                return cov_fail(e, all ? COV_EINPUT : COV_EUSAGE, "%s: data set '%s' comes twice",
                                all ? j->reader.name : "--datasets", j->datasets[i]);
    }
    j->reader.ks = j->ks;
    j->reader.n_ks = j->n_lanes;
    return COV_OK;
}

/* ---------------------------------------------------------------- work */

static int source(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct cov_convert_signal *j = arg;
    if (j->reader.done)
        return 0;
    int rc = cov_convert_reader_next(&j->reader, &j->slots[slot].piece, e);
    return rc ? rc : 1;
}

/* A base that lacks one of its values has none. */
static void find_gaps(const float *plus, const float *minus, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        if ((plus && plus[i] == COV_SIGNAL_PAD) || (minus && minus[n - 1 - i] == COV_SIGNAL_PAD))
            out[i] = COV_SIGNAL_PAD;
}

static int work(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct cov_convert_signal *j = arg;
    struct cov_convert_piece *p = &j->slots[slot].piece;
    float *out = j->slots[slot].values;
    float *plus = j->scratch[worker], *minus = plus + j->n_lanes * j->L;
    float *const values[2] = {cov_convert_wants(j->o, COV_PLUS) ? plus : NULL,
                              cov_convert_wants(j->o, COV_MINUS) ? minus : NULL};
    if (p->n == 0)
        return COV_OK;
    int rc = cov_signal_source_decode(j->reader.source, p->sequence, j->ks, j->n_lanes, &p->signal,
                                      values, e);
    for (size_t k = 0; k < j->n_lanes && !rc; k++) {
        size_t at = k * j->L;
        cov_strands_combine(j->o->strand, plus + at, minus + at, p->n, j->lanes[k].round, out + at);
        if (j->gaps)
            find_gaps(values[COV_PLUS] ? plus + at : NULL, values[COV_MINUS] ? minus + at : NULL,
                      p->n, out + at);
    }
    return rc;
}

/* ---------------------------------------------------------------- sink */

static int begin_lane(const struct cov_convert_signal *j, struct cov_convert_lane *l,
                      const struct cov_convert_piece *p, struct cov_err *e)
{
    cov_convert_lane_begin(l, p->contig.regions, p->contig.n_regions);
    return j->reader.grid ? cov_track_begin(l->sink, p->number, e)
                          : cov_track_begin_named(l->sink, p->contig.name, e);
}

static int end_lane(const struct cov_convert_signal *j, struct cov_convert_lane *l,
                    const struct cov_convert_piece *p, struct cov_err *e)
{
    int rc = cov_convert_lane_end(l, e);
    return rc || j->reader.grid ? rc : cov_track_end_contig(l->sink, p->length, e);
}

/* n values from base `beg` on, with gaps between them. */
static int take_stretches(struct cov_convert_lane *l, int64_t beg, float *x, size_t n,
                          struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0, k; !rc && i < n; i = k) {
        while (i < n && x[i] == COV_SIGNAL_PAD)
            i++;
        for (k = i; k < n && x[k] != COV_SIGNAL_PAD;)
            k++;
        if (k > i)
            rc = cov_convert_lane_take(l, beg + (int64_t)i, x + i, k - i, e);
    }
    return rc;
}

/* The slot that is being taken, for lane `k`. */
static int take_slot(void *arg, size_t k, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct cov_convert_signal *j = arg;
    struct cov_convert_lane *l = &j->lanes[k];
    const struct cov_convert_piece *p = &j->sinking->piece;
    int rc = p->ends ? end_lane(j, l, p, e) : COV_OK;
    if (!rc && p->begins)
        rc = begin_lane(j, l, p, e);
    if (rc || p->n == 0)
        return rc;
    float *values = j->sinking->values + k * j->L;
    return j->gaps ? take_stretches(l, p->beg, values, p->n, e)
                   : cov_convert_lane_take(l, p->beg, values, p->n, e);
}

static int close_lane(void *arg, size_t k, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct cov_convert_signal *j = arg;
    return cov_track_close(j->lanes[k].sink, e);
}

/* Runs fn for each lane: one here, several in the pool. */
static int for_lanes(struct cov_convert_signal *j, cov_task_fn *fn, struct cov_err *e)
{
    return j->n_lanes == 1 ? fn(j, 0, 0, e) : cov_pool_for(j->pool, j->n_lanes, fn, j, e);
}

static int sink(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct cov_convert_signal *j = arg;
    j->sinking = &j->slots[slot];
    int rc = for_lanes(j, take_slot, e);
    j->n_bases += (int64_t)j->slots[slot].piece.n;
    cov_progress_add(j->progress, (int64_t)j->slots[slot].piece.n);
    return rc;
}

/* ---------------------------------------------------------------- the run */

static int prepare_lanes(struct cov_convert_signal *j, struct cov_track_sink *const *sinks,
                         struct cov_err *e)
{
    j->lanes = cov_calloc(j->n_lanes, sizeof *j->lanes, e);
    int rc = j->lanes ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < j->n_lanes; k++) {
        bool round = j->o->measured || !cov_signal_source_is_float(j->reader.source, j->ks[k]);
        rc = cov_convert_lane_init(&j->lanes[k], j->o, round, sinks[k], e);
    }
    return rc;
}

static int prepare_slots(struct cov_convert_signal *j, struct cov_err *e)
{
    size_t n, twice;
    j->n_slots = cov_ring_slots(j->pool);
    j->n_workers = cov_pool_size(j->pool);
    j->slots = cov_calloc(j->n_slots, sizeof *j->slots, e);
    j->scratch = cov_calloc(j->n_workers, sizeof *j->scratch, e);
    if (!j->slots || !j->scratch)
        return COV_ENOMEM;
    if (cov_size_mul(j->n_lanes, j->L, &n) || cov_size_mul(n, 2, &twice))
        return cov_fail(e, COV_ENOMEM, "%s: chunks of %zu bases are too long", j->reader.name,
                        j->L);
    for (size_t i = 0; i < j->n_slots; i++) {
        j->slots[i].values = cov_malloc(n, sizeof(float), e);
        if (!j->slots[i].values)
            return COV_ENOMEM;
    }
    for (unsigned i = 0; i < j->n_workers; i++) {
        j->scratch[i] = cov_malloc(twice, sizeof(float), e);
        if (!j->scratch[i])
            return COV_ENOMEM;
    }
    return COV_OK;
}

/* Who has forgotten to merge is to know it. */
static void warn_of_holes(const struct cov_convert_signal *j, int64_t n_there)
{
    int64_t n = 0;
    for (size_t i = 0; n_there >= 0 && i < j->reader.n_contigs; i++)
        n += j->reader.lengths[i];
    if (n_there >= 0 && n_there < n)
        cov_warn("%s is partial: %s%lld of %lld bases are in it", j->reader.name,
                 cov_signal_source_has_gaps(j->reader.source) ? "at most " : "", (long long)n_there,
                 (long long)n);
}

int cov_convert_signal_run(struct cov_convert_signal *j, struct cov_pool *pool,
                           struct cov_track_sink *const *sinks, const char *what,
                           struct cov_progress *progress, struct cov_stats *stats,
                           struct cov_err *e)
{
    static const struct cov_ring_stages stages = {source, work, sink};
    struct cov_ring_times times = {0};
    int64_t n_there = cov_convert_reader_count(&j->reader);
    j->pool = pool;
    j->progress = progress;
    j->gaps = cov_signal_source_has_gaps(j->reader.source);
    int rc = prepare_lanes(j, sinks, e);
    if (!rc)
        rc = prepare_slots(j, e);
    if (rc)
        return rc;
    warn_of_holes(j, n_there);
    cov_progress_begin(progress, what, "bp", n_there);
    rc = cov_ring_run(pool, j->n_slots, &stages, j, &times, e);
    double beg = cov_clock();
    if (!rc)
        rc = cov_convert_reader_check(&j->reader, e);
    if (!rc)
        rc = for_lanes(j, close_lane, e);
    cov_progress_end(progress);
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

/* ---------------------------------------------------------------- all of it */

int cov_convert_signal_open(const char *input, struct cov_bgz *in,
                            const struct cov_convert_options *o, struct cov_convert_signal **out,
                            struct cov_err *e)
{
    *out = NULL;
    struct cov_convert_signal *j = cov_calloc(1, sizeof *j, e);
    if (!j) {
        cov_bgz_abort(in);
        return COV_ENOMEM;
    }
    j->o = o;
    int rc = cov_convert_reader_open(&j->reader, input, in, o, e);
    if (!rc && o->sizes_path)
        rc = cov_fail(e, COV_EUSAGE, "--chrom-sizes is for bedGraph; %s has the lengths",
                      j->reader.name);
    if (!rc) {
        j->L = cov_signal_source_chunk_length(j->reader.source);
        j->contigs =
            (struct cov_track_contigs){j->reader.n_contigs, j->reader.names, j->reader.lengths};
        rc = choose_datasets(j, e);
    }
    if (rc)
        cov_convert_signal_close(j);
    else
        *out = j;
    return rc;
}

void cov_convert_signal_close(struct cov_convert_signal *j)
{
    if (!j)
        return;
    for (size_t k = 0; j->lanes && k < j->n_lanes; k++)
        cov_convert_lane_fini(&j->lanes[k]);
    for (size_t i = 0; j->slots && i < j->n_slots; i++) {
        cov_convert_piece_fini(&j->slots[i].piece);
        free(j->slots[i].values);
    }
    for (unsigned i = 0; j->scratch && i < j->n_workers; i++)
        free(j->scratch[i]);
    free(j->slots);
    free(j->scratch);
    free(j->ks);
    free(j->datasets);
    free(j->lanes);
    cov_convert_reader_close(&j->reader);
    free(j);
}

const char *cov_convert_signal_name(const struct cov_convert_signal *j)
{
    return j->reader.name;
}

size_t cov_convert_signal_n_datasets(const struct cov_convert_signal *j)
{
    return j->n_lanes;
}

const char *cov_convert_signal_dataset(const struct cov_convert_signal *j, size_t k)
{
    return j->datasets[k];
}

int cov_convert_signal_keep(struct cov_convert_signal *j, const size_t *which, size_t n,
                            struct cov_err *e)
{
    size_t *ks = cov_calloc(n, sizeof *ks, e);
    const char **datasets = cov_calloc(n, sizeof *datasets, e);
    int rc = ks && datasets ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        ks[i] = j->ks[which[i]];
        datasets[i] = j->datasets[which[i]];
    }
    if (rc) {
        free(ks);
        free(datasets);
        return rc;
    }
    free(j->ks);
    free(j->datasets);
    j->ks = ks;
    j->datasets = datasets;
    j->n_lanes = n;
    j->reader.ks = ks;
    j->reader.n_ks = n;
    return COV_OK;
}

const struct cov_track_contigs *cov_convert_signal_contigs(const struct cov_convert_signal *j)
{
    return j->reader.grid ? &j->contigs : NULL;
}
