/* convert.c - see convert.h.
 *
 * A piece of work is an interval of a contig: the + and the - chunk that cover it. Pieces come
 * contig by contig in the tracks' order, ascending, so that no stage holds more than a chunk a slot
 * and a window.
 * SPDX-License-Identifier: MIT */
#include "common/job/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/pool.h"
#include "common/base/ring.h"
#include "common/codec/blob.h"
#include "common/seq/grid.h"
#include "common/seq/rename.h"
#include "common/store/signal_file.h"
#include "common/track/blacklist.h"
#include "common/track/runs.h"
#include "common/track/smooth.h"
#include "common/track/track_filter.h"

/* The contigs of the tracks, in their order. */
struct plan {
    size_t n;
    struct contig {
        const char *name; /* borrowed from the grid or the renaming table */
        size_t seq;       /* in the grid */
        const struct cov_region *regions;
        size_t n_regions;
    } * contigs;
    /* The same for the sinks. */
    const char **names;
    int64_t *lengths;
    int64_t n_bases;
};

/* A data set on its way into its track. */
struct lane {
    bool smooths, round;
    double scale;
    struct cov_smooth smooth;
    struct cov_runs runs;
    struct cov_track_filter filter;
    struct cov_track_sink *sink;
};

struct slot {
    size_t contig; /* in the plan */
    size_t n;      /* bases */
    bool first, last;
    size_t plus, minus; /* rows; which of them are used, the strand tells */
    struct cov_blob raw_plus, raw_minus;
    float *values; /* [n_lanes][L] */
};

struct job {
    const char *input;
    const struct cov_convert_options *o;
    struct cov_pool *pool;
    struct cov_progress *progress;
    struct cov_signal_file *file;
    const struct cov_grid *grid;
    struct cov_rename *rename;
    struct cov_blacklist *blacklist;
    struct plan plan;
    size_t L;
    /* Data sets. */
    size_t n_lanes;
    size_t *ks; /* their numbers in the file */
    const char **datasets;
    struct lane *lanes;
    struct cov_track_files *files;
    /* Where reading is. */
    size_t contig;        /* the next one */
    size_t *plus, *minus; /* rows of the current one; NULL: not needed */
    size_t n_rows, row;
    int64_t n_chunks;
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

static bool find_dataset(const struct cov_signal_file *f, const char *name, size_t *k)
{
    for (*k = 0; *k < cov_signal_file_n_datasets(f); (*k)++)
        if (strcmp(cov_signal_file_dataset(f, *k), name) == 0)
            return true;
    return false;
}

/* "a, b, c" as far as it fits. */
static void list_datasets(const struct cov_signal_file *f, char *text, size_t size)
{
    size_t n = 0;
    *text = '\0';
    for (size_t k = 0; k < cov_signal_file_n_datasets(f) && n < size; k++) {
        int m = snprintf(text + n, size - n, "%s%s", k ? ", " : "", cov_signal_file_dataset(f, k));
        n += m > 0 ? (size_t)m : size;
    }
}

static int choose_datasets(struct job *j, struct cov_err *e)
{
    bool all = j->o->n_datasets == 0;
    j->n_lanes = all ? cov_signal_file_n_datasets(j->file) : j->o->n_datasets;
    if (j->n_lanes == 0)
        return cov_fail(e, COV_EINPUT, "%s: it has no data sets", j->input);
    j->ks = cov_calloc(j->n_lanes, sizeof *j->ks, e);
    j->datasets = cov_calloc(j->n_lanes, sizeof *j->datasets, e);
    j->lanes = cov_calloc(j->n_lanes, sizeof *j->lanes, e);
    if (!j->ks || !j->datasets || !j->lanes)
        return COV_ENOMEM;
    for (size_t i = 0; i < j->n_lanes; i++) {
        j->ks[i] = i;
        if (!all && !find_dataset(j->file, j->o->datasets[i], &j->ks[i])) {
            char known[256];
            list_datasets(j->file, known, sizeof known);
            return cov_fail(e, COV_EUSAGE, "%s: there is no data set '%s'; it has: %s", j->input,
                            j->o->datasets[i], known);
        }
        j->datasets[i] = cov_signal_file_dataset(j->file, j->ks[i]);
        for (size_t h = 0; h < i; h++)
            if (strcmp(j->datasets[h], j->datasets[i]) == 0)
                return cov_fail(e, all ? COV_EINPUT : COV_EUSAGE, "%s: data set '%s' comes twice",
                                all ? j->input : "--datasets", j->datasets[i]);
    }
    return COV_OK;
}

/* ---------------------------------------------------------------- contigs */

static int by_name(const void *a, const void *b)
{
    const struct contig *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int check_twins(const struct job *j, struct cov_err *e)
{
    for (size_t i = 1; i < j->plan.n; i++) {
        const struct contig *a = &j->plan.contigs[i - 1], *b = &j->plan.contigs[i];
        if (strcmp(a->name, b->name) != 0)
            continue;
        const char *x = cov_grid_name(j->grid, a->seq), *y = cov_grid_name(j->grid, b->seq);
        if (strcmp(x, y) != 0)
            return cov_fail(e, COV_EINPUT, "%s: %s and %s are both renamed to %s",
                            j->o->rename_path, x, y, a->name);
        return cov_fail(e, COV_EINPUT, "%s: sequence %s is there in two species, %s and %s: %s",
                        j->input, x, cov_grid_species(j->grid, a->seq),
                        cov_grid_species(j->grid, b->seq), "one track cannot hold both");
    }
    return COV_OK;
}

static void warn_of_unknown_names(const struct job *j)
{
    if (j->blacklist) {
        const char *first;
        size_t n = cov_blacklist_n_unknown(j->blacklist, &first);
        if (n)
            cov_warn("%s: %zu of %zu names are not in %s, the first is %s", j->o->blacklist_path, n,
                     cov_blacklist_n_names(j->blacklist), j->input, first);
    }
    if (j->rename && cov_rename_unused(j->rename))
        cov_warn("%s: %zu of %zu names are not in %s", j->o->rename_path,
                 cov_rename_unused(j->rename), cov_rename_count(j->rename), j->input);
}

/* Names of the blacklist and of the renaming are those of the input. */
static int make_plan(struct job *j, struct cov_err *e)
{
    struct plan *p = &j->plan;
    size_t n_seqs = cov_grid_n_seqs(j->grid);
    p->contigs = cov_calloc(n_seqs, sizeof *p->contigs, e);
    p->names = cov_calloc(n_seqs, sizeof *p->names, e);
    p->lengths = cov_calloc(n_seqs, sizeof *p->lengths, e);
    if (!p->contigs || !p->names || !p->lengths)
        return COV_ENOMEM;
    for (size_t seq = 0; seq < n_seqs; seq++) {
        const char *name = cov_grid_name(j->grid, seq);
        struct contig c = {name, seq, NULL, 0};
        if (j->rename)
            c.name = cov_rename_apply(j->rename, name, strlen(name));
        if (j->blacklist) {
            if (cov_blacklist_drops(j->blacklist, name))
                continue;
            c.regions = cov_blacklist_regions(j->blacklist, name, &c.n_regions);
        }
        p->contigs[p->n++] = c;
    }
    warn_of_unknown_names(j);
    if (p->n == 0)
        return cov_fail(e, COV_EINPUT, "%s: no sequence is left to convert%s%s", j->input,
                        j->blacklist ? ": all are listed in " : "",
                        j->blacklist ? j->o->blacklist_path : "");
    qsort(p->contigs, p->n, sizeof *p->contigs, by_name);
    for (size_t i = 0; i < p->n; i++) {
        p->names[i] = p->contigs[i].name;
        p->lengths[i] = cov_grid_seq_length(j->grid, p->contigs[i].seq);
        p->n_bases += p->lengths[i];
    }
    return check_twins(j, e);
}

/* ---------------------------------------------------------------- source */

static int next_contig(struct job *j, struct cov_err *e)
{
    free(j->plus);
    free(j->minus);
    j->plus = j->minus = NULL;
    size_t seq = j->plan.contigs[j->contig].seq, n_plus = 0, n_minus = 0;
    enum cov_strand strand = j->o->strand;
    int rc = COV_OK;
    if (strand != COV_STRAND_MINUS)
        rc = cov_grid_strand_rows(j->grid, seq, false, &j->plus, &n_plus, e);
    if (!rc && strand != COV_STRAND_PLUS)
        rc = cov_grid_strand_rows(j->grid, seq, true, &j->minus, &n_minus, e);
    if (rc)
        return rc == COV_EINPUT ? cov_err_prefix(e, "%s", j->input) : rc;
    bool same = !j->plus || !j->minus || n_plus == n_minus;
    j->n_rows = j->plus ? n_plus : n_minus;
    for (size_t i = 0; same && j->plus && j->minus && i < j->n_rows; i++)
        same = cov_grid_chunk(j->grid, j->plus[i]).beg == cov_grid_chunk(j->grid, j->minus[i]).beg;
    if (!same)
        return cov_fail(e, COV_EINPUT,
                        "%s: the strands of sequence %s are cut into chunks at different places",
                        j->input, cov_grid_name(j->grid, seq));
    j->row = 0;
    j->contig++;
    return COV_OK;
}

static int source(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct job *j = arg;
    struct slot *s = &j->slots[slot];
    int rc;
    if (j->row == j->n_rows) {
        if (j->contig == j->plan.n)
            return 0;
        rc = next_contig(j, e);
        if (rc)
            return rc;
    }
    s->contig = j->contig - 1;
    s->first = j->row == 0;
    s->last = j->row + 1 == j->n_rows;
    if (j->plus) {
        s->plus = j->plus[j->row];
        rc = cov_signal_file_fetch(j->file, s->plus, j->ks, j->n_lanes, &s->raw_plus, e);
        if (rc)
            return rc;
    }
    if (j->minus) {
        s->minus = j->minus[j->row];
        rc = cov_signal_file_fetch(j->file, s->minus, j->ks, j->n_lanes, &s->raw_minus, e);
        if (rc)
            return rc;
    }
    struct cov_chunk chunk = cov_grid_chunk(j->grid, j->plus ? s->plus : s->minus);
    s->n = (size_t)(chunk.end - chunk.beg);
    j->n_chunks += (j->plus != NULL) + (j->minus != NULL);
    j->row++;
    return 1;
}

/* ---------------------------------------------------------------- work */

static int work(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct job *j = arg;
    struct slot *s = &j->slots[slot];
    float *plus = j->scratch[worker], *minus = plus + j->n_lanes * j->L;
    int rc = COV_OK;
    if (j->o->strand != COV_STRAND_MINUS)
        rc = cov_signal_file_decode(j->file, s->plus, j->ks, j->n_lanes, &s->raw_plus, plus, e);
    if (!rc && j->o->strand != COV_STRAND_PLUS)
        rc = cov_signal_file_decode(j->file, s->minus, j->ks, j->n_lanes, &s->raw_minus, minus, e);
    for (size_t k = 0; k < j->n_lanes && !rc; k++) {
        size_t at = k * j->L;
        cov_strands_combine(j->o->strand, plus + at, minus + at, s->n, j->lanes[k].round,
                            s->values + at);
    }
    return rc;
}

/* ---------------------------------------------------------------- sink */

static int take_values(struct lane *l, float *x, size_t n, struct cov_err *e)
{
    if (l->scale != 1)
        for (size_t i = 0; i < n; i++)
            x[i] = (float)((double)x[i] * l->scale) + 0.0F; /* -0 becomes 0 */
    return cov_runs_add(&l->runs, x, n, e);
}

static int end_contig(struct lane *l, float *room, size_t cap, struct cov_err *e)
{
    size_t n;
    while (l->smooths && (n = cov_smooth_end(&l->smooth, room, cap)) > 0) {
        int rc = take_values(l, room, n, e);
        if (rc)
            return rc;
    }
    int rc = cov_runs_end(&l->runs, e);
    return rc ? rc : cov_track_filter_end(&l->filter, e);
}

/* The slot that is being taken, for lane `k`. */
static int take_slot(void *arg, size_t k, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct job *j = arg;
    struct lane *l = &j->lanes[k];
    const struct slot *s = j->sinking;
    float *x = s->values + k * j->L;
    size_t n = s->n;
    if (s->first) {
        const struct contig *c = &j->plan.contigs[s->contig];
        int rc = cov_track_begin(l->sink, s->contig, e);
        if (rc)
            return rc;
        cov_track_filter_begin(&l->filter, c->regions, c->n_regions);
        cov_runs_begin(&l->runs, cov_track_filter_add, &l->filter);
        if (l->smooths)
            cov_smooth_begin(&l->smooth);
    }
    if (l->smooths)
        n = cov_smooth_add(&l->smooth, x, n, x);
    int rc = take_values(l, x, n, e);
    return rc || !s->last ? rc : end_contig(l, x, j->L, e);
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
    cov_progress_add(j->progress, (int64_t)j->slots[slot].n);
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static int open_inputs(struct job *j, struct cov_err *e)
{
    int rc = cov_signal_file_open(
        j->input, j->o->measured ? COV_SIGNAL_MEASURED : COV_SIGNAL_PREDICTED, &j->file, e);
    if (!rc && j->o->blacklist_path)
        rc = cov_blacklist_read(j->o->blacklist_path, &j->blacklist, e);
    if (!rc && j->o->rename_path)
        rc = cov_rename_read(j->o->rename_path, &j->rename, e);
    if (rc)
        return rc;
    j->grid = cov_signal_file_grid(j->file);
    j->L = cov_grid_chunk_length(j->grid);
    rc = choose_datasets(j, e);
    return rc ? rc : make_plan(j, e);
}

/* As Predmoter: "_avg_strand_bl_ws=150". */
static char *name_tail(const struct cov_convert_options *o, struct cov_err *e)
{
    static const char *const strands[] = {"avg", "+", "-"};
    char window[32] = "";
    if (o->window)
        (void)snprintf(window, sizeof window, "_ws=%lld", (long long)o->window);
    return cov_strfmt(e, "_%s_strand%s%s", strands[o->strand], o->blacklist_path ? "_bl" : "",
                      window);
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
    for (size_t k = 0; k < j->n_lanes; k++) {
        struct lane *l = &j->lanes[k];
        l->sink = cov_track_files_sink(j->files, k);
        l->round = j->o->measured || !cov_signal_file_is_float(j->file, j->ks[k]);
        l->scale = j->o->scale;
        l->filter.sink = l->sink;
        l->filter.skip_zero = j->o->skip_zero;
        l->filter.has_min = j->o->has_min;
        l->filter.min = j->o->min_value;
        if (j->o->window > 0) {
            int rc = cov_smooth_init(&l->smooth, (size_t)j->o->window, l->round, e);
            if (rc)
                return rc;
            l->smooths = true;
        }
    }
    return COV_OK;
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
        return cov_fail(e, COV_ENOMEM, "%s: chunks of %zu bases are too long", j->input, j->L);
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

static int run(struct job *j, struct cov_stats *stats, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {source, work, sink};
    struct cov_ring_times times = {0};
    cov_progress_begin(j->progress, "converting", "bp", j->plan.n_bases);
    int rc = cov_ring_run(j->pool, j->n_slots, &stages, j, &times, e);
    double beg = cov_clock();
    if (!rc)
        rc = for_lanes(j, close_lane, e);
    cov_progress_end(j->progress);
    if (!rc)
        rc = cov_track_files_commit(j->files, e);
    if (stats) {
        stats->bases = j->plan.n_bases;
        stats->chunks = j->n_chunks;
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
                  j->datasets[k], (unsigned long long)sum->n_intervals, j->plan.n, sum->min,
                  sum->max);
    }
}

static void fini(struct job *j)
{
    for (size_t k = 0; j->lanes && k < j->n_lanes; k++)
        cov_smooth_fini(&j->lanes[k].smooth);
    cov_track_files_free(j->files);
    for (size_t i = 0; j->slots && i < j->n_slots; i++) {
        cov_blob_fini(&j->slots[i].raw_plus);
        cov_blob_fini(&j->slots[i].raw_minus);
        free(j->slots[i].values);
    }
    for (unsigned i = 0; j->scratch && i < j->n_workers; i++)
        free(j->scratch[i]);
    free(j->slots);
    free(j->scratch);
    free(j->plus);
    free(j->minus);
    free(j->ks);
    free(j->datasets);
    free(j->lanes);
    free(j->plan.contigs);
    free(j->plan.names);
    free(j->plan.lengths);
    cov_rename_free(j->rename);
    cov_blacklist_free(j->blacklist);
    cov_signal_file_close(j->file);
    cov_pool_free(j->pool);
}

int cov_convert_run(const char *input, const struct cov_convert_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e)
{
    struct job j = {.input = input, .o = options, .progress = progress};
    int rc = check_options(options, e);
    if (!rc)
        rc = open_inputs(&j, e);
    /* Opening HDF5 forks: before there are threads, whose locks the child would inherit. */
    if (!rc)
        rc = cov_pool_new(n_threads, &j.pool, e);
    struct cov_track_contigs contigs = {j.plan.n, j.plan.names, j.plan.lengths};
    if (!rc)
        rc = open_outputs(&j, &contigs, e);
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
