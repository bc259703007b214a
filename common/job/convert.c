/* convert.c - see convert.h. Pieces come from the reader in the order of the tracks, so that no stage
 * holds more than a chunk a slot and a window.
 * SPDX-License-Identifier: MIT */
#include "common/job/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/pool.h"
#include "common/base/ring.h"
#include "common/job/convert_lane.h"
#include "common/job/convert_reader.h"
#include "common/job/convert_track.h"
#include "common/track/intervals.h"

struct slot {
    struct cov_convert_piece piece;
    float *values; /* [n_lanes][L] */
};

struct job {
    const char *input;
    const struct cov_convert_options *o;
    struct cov_pool *pool;
    struct cov_progress *progress;
    struct cov_convert_reader reader;
    size_t L;
    /* Data sets. */
    size_t n_lanes;
    size_t *ks; /* their numbers in the file */
    const char **datasets;
    struct cov_convert_lane *lanes;
    struct cov_track_files *files;
    int64_t n_bases; /* so far */
    /* Of the pipeline. */
    size_t n_slots;
    struct slot *slots;
    float **scratch; /* of each worker: [2][n_lanes][L] */
    unsigned n_workers;
    struct slot *sinking; /* what the lanes take at the moment */
};

/* ---------------------------------------------------------------- options */

static int check_options(const struct cov_convert_options *o, struct cov_err *e)
{
    if (cov_path_names_dir(o->output)) {
        if (o->basename && strchr(o->basename, '/'))
            return cov_fail(e, COV_EUSAGE, "--basename %s: a name without '/' is wanted",
                            o->basename);
        return COV_OK;
    }
    enum cov_track_kind kind;
    int rc = cov_track_kind_of(o->output, &kind, e);
    if (!rc && o->has_kind)
        rc = cov_fail(e, COV_EUSAGE, "--format is for an output folder; %s is a file", o->output);
    if (!rc && o->basename)
        rc = cov_fail(e, COV_EUSAGE, "--basename is for an output folder; %s is a file", o->output);
    return rc;
}

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

static int choose_datasets(struct job *j, struct cov_err *e)
{
    bool all = j->o->n_datasets == 0;
    j->n_lanes = all ? cov_signal_source_n_datasets(j->reader.source) : j->o->n_datasets;
    if (j->n_lanes == 0)
        return cov_fail(e, COV_EINPUT, "%s: it has no data sets", j->reader.name);
    j->ks = cov_calloc(j->n_lanes, sizeof *j->ks, e);
    j->datasets = cov_calloc(j->n_lanes, sizeof *j->datasets, e);
    j->lanes = cov_calloc(j->n_lanes, sizeof *j->lanes, e);
    if (!j->ks || !j->datasets || !j->lanes)
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

static int source(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct job *j = arg;
    if (j->reader.done)
        return 0;
    int rc = cov_convert_reader_next(&j->reader, &j->slots[slot].piece, e);
    return rc ? rc : 1;
}

/* ---------------------------------------------------------------- work */

static int work(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct job *j = arg;
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
    }
    return rc;
}

/* ---------------------------------------------------------------- sink */

static int begin_lane(const struct job *j, struct cov_convert_lane *l,
                      const struct cov_convert_piece *p, struct cov_err *e)
{
    cov_convert_lane_begin(l, p->contig.regions, p->contig.n_regions);
    return j->reader.grid ? cov_track_begin(l->sink, p->number, e)
                          : cov_track_begin_named(l->sink, p->contig.name, e);
}

static int end_lane(const struct job *j, struct cov_convert_lane *l,
                    const struct cov_convert_piece *p, struct cov_err *e)
{
    int rc = cov_convert_lane_end(l, e);
    return rc || j->reader.grid ? rc : cov_track_end_contig(l->sink, p->length, e);
}

/* The slot that is being taken, for lane `k`. */
static int take_slot(void *arg, size_t k, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct job *j = arg;
    struct cov_convert_lane *l = &j->lanes[k];
    const struct cov_convert_piece *p = &j->sinking->piece;
    int rc = p->ends ? end_lane(j, l, p, e) : COV_OK;
    if (!rc && p->begins)
        rc = begin_lane(j, l, p, e);
    if (rc || p->n == 0)
        return rc;
    return cov_convert_lane_take(l, p->beg, j->sinking->values + k * j->L, p->n, e);
}

static int close_lane(void *arg, size_t k, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct job *j = arg;
    return cov_track_close(j->lanes[k].sink, e);
}

/* Runs fn for each lane: one here, several in the pool. */
static int for_lanes(struct job *j, cov_task_fn *fn, struct cov_err *e)
{
    return j->n_lanes == 1 ? fn(j, 0, 0, e) : cov_pool_for(j->pool, j->n_lanes, fn, j, e);
}

static int sink(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct job *j = arg;
    j->sinking = &j->slots[slot];
    int rc = for_lanes(j, take_slot, e);
    j->n_bases += (int64_t)j->slots[slot].piece.n;
    cov_progress_add(j->progress, (int64_t)j->slots[slot].piece.n);
    return rc;
}

/* ---------------------------------------------------------------- all of it */

/* As Predmoter: "_avg_strand_bl_ws=150". */
static char *name_tail(const struct cov_convert_options *o, struct cov_err *e)
{
    static const char *const strands[] = {"avg", "+", "-"};
    char smoothing[COV_SMOOTHING_TAIL];
    cov_smoothing_tail(&o->smoothing, smoothing);
    return cov_strfmt(e, "_%s_strand%s%s", strands[o->strand], o->blacklist_path ? "_bl" : "",
                      smoothing);
}

static int open_outputs(struct job *j, const struct cov_track_contigs *contigs, struct cov_err *e)
{
    const struct cov_convert_options *o = j->o;
    int rc = COV_ENOMEM;
    char *tail = name_tail(o, e);
    char *stem = cov_path_stem(j->input, e);
    if (tail && stem) {
        struct cov_track_target target = {.output = o->output,
                                          .force = o->force,
                                          .pool = j->pool,
                                          .tmpdir = o->tmpdir,
                                          .basename = o->basename ? o->basename : stem,
                                          .tail = tail,
                                          .kind = o->has_kind ? o->kind : COV_TRACK_BIGWIG};
        rc = cov_track_files_open(&target, contigs, j->datasets, j->n_lanes, cov_pool_size(j->pool),
                                  &j->files, e);
    }
    free(tail);
    free(stem);
    return rc;
}

static int prepare_lanes(struct job *j, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < j->n_lanes; k++) {
        bool round = j->o->measured || !cov_signal_source_is_float(j->reader.source, j->ks[k]);
        rc = cov_convert_lane_init(&j->lanes[k], j->o, round, cov_track_files_sink(j->files, k), e);
    }
    return rc;
}

static int prepare_slots(struct job *j, struct cov_err *e)
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
static void warn_of_holes(const struct job *j, int64_t n_there)
{
    int64_t n = 0;
    for (size_t i = 0; n_there >= 0 && i < j->reader.n_contigs; i++)
        n += j->reader.lengths[i];
    if (n_there >= 0 && n_there < n)
        cov_warn("%s is partial: %lld of %lld bases are in it", j->input, (long long)n_there,
                 (long long)n);
}

static int run(struct job *j, struct cov_stats *stats, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {source, work, sink};
    struct cov_ring_times times = {0};
    int64_t n_there = cov_convert_reader_count(&j->reader);
    warn_of_holes(j, n_there);
    cov_progress_begin(j->progress, "converting", "bp", n_there);
    int rc = cov_ring_run(j->pool, j->n_slots, &stages, j, &times, e);
    double beg = cov_clock();
    if (!rc)
        rc = cov_convert_reader_check(&j->reader, e);
    if (!rc)
        rc = for_lanes(j, close_lane, e);
    cov_progress_end(j->progress);
    if (!rc)
        rc = cov_track_files_commit(j->files, e);
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

static void tell(const struct job *j)
{
    for (size_t k = 0; k < j->n_lanes; k++) {
        const struct cov_track_sink *s = j->lanes[k].sink;
        const struct cov_track_summary *sum = &s->summary;
        cov_debug("%s: %s, %llu intervals on %zu contigs, values %.9g to %.9g", s->name,
                  j->datasets[k], (unsigned long long)sum->n_intervals, cov_track_n_contigs(s),
                  sum->min, sum->max);
    }
}

static void fini(struct job *j)
{
    for (size_t k = 0; j->lanes && k < j->n_lanes; k++)
        cov_convert_lane_fini(&j->lanes[k]);
    cov_track_files_free(j->files);
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
    cov_pool_free(j->pool);
}

/* Looks at the input: whether it is a track. What can be read once only is opened for that: *in. */
static int look_at_input(const char *input, struct cov_bgz **in, bool *is_track, struct cov_err *e)
{
    struct stat st;
    char bytes[COV_BGZ_PEEK];
    size_t n;
    enum cov_intervals_kind kind;
    *in = NULL;
    if (!cov_path_is_std(input) &&
        (stat(input, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
        int rc = cov_intervals_detect(input, &kind, e);
        *is_track = kind != COV_INTERVALS_NONE;
        return rc;
    }
    int rc = cov_bgz_open_read(input, 1, in, e);
    if (!rc)
        rc = cov_bgz_peek(*in, bytes, sizeof bytes, &n, e);
    if (rc) {
        cov_bgz_abort(*in);
        return rc;
    }
    kind = cov_intervals_kind_of(bytes, n);
    *is_track = kind == COV_INTERVALS_BEDGRAPH;
    if (kind == COV_INTERVALS_BIGWIG) {
        rc = cov_fail(e, COV_EINPUT, "%s: a bigWig is read from a regular file only",
                      cov_bgz_name(*in));
        cov_bgz_abort(*in);
    }
    return rc;
}

static int run_signal(const char *input, struct cov_bgz *in,
                      const struct cov_convert_options *options, unsigned n_threads,
                      struct cov_progress *progress, struct cov_stats *stats, struct cov_err *e)
{
    struct job j = {.input = input, .o = options, .progress = progress};
    int rc = cov_convert_reader_open(&j.reader, input, in, options, e);
    if (!rc && options->sizes_path)
        rc = cov_fail(e, COV_EUSAGE, "--chrom-sizes is for bedGraph; %s has the lengths",
                      j.reader.name);
    if (!rc) {
        j.L = cov_signal_source_chunk_length(j.reader.source);
        rc = choose_datasets(&j, e);
    }
    /* Opening HDF5 forks: before there are threads, whose locks the child would inherit. */
    if (!rc)
        rc = cov_pool_new(n_threads, &j.pool, e);
    const struct cov_track_contigs contigs = {j.reader.n_contigs, j.reader.names, j.reader.lengths};
    if (!rc)
        rc = open_outputs(&j, j.reader.grid ? &contigs : NULL, e);
    if (!rc)
        rc = prepare_lanes(&j, e);
    if (!rc)
        rc = prepare_slots(&j, e);
    if (!rc)
        rc = run(&j, stats, e);
    if (!rc)
        tell(&j);
    fini(&j);
    return rc;
}

int cov_convert_run(const char *input, const struct cov_convert_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e)
{
    struct cov_bgz *in = NULL;
    bool is_track = false;
    int rc = check_options(options, e);
    if (!rc)
        rc = look_at_input(input, &in, &is_track, e);
    if (rc)
        return rc;
    return is_track ? cov_convert_track_run(input, in, options, n_threads, progress, stats, e)
                    : run_signal(input, in, options, n_threads, progress, stats, e);
}
