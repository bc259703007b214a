/* convert.c - see convert.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/convert.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/file/path.h"

struct convert_job {
    const char *input;
    const struct cov_convert_options *o;
    struct cov_pool *pool;
    struct cov_source_options options, whole_options;
    struct cov_track_source *source;
    struct cov_track_source *whole; /* the input without regions, to normalize; NULL: none */
    double *factors;                /* [source->n_datasets]; NULL: none */
    struct cov_track_files *files;
    struct cov_track_sink **sinks; /* borrowed from the files */
};

/* ---------------------------------------------------------------- options */

/* The format of the output. */
static enum cov_track_kind kind_of_output(const struct cov_convert_options *o)
{
    enum cov_track_kind kind = COV_TRACK_BIGWIG;
    /* check_options has checked the suffix of a file. */
    if (o->has_kind || cov_path_names_dir(o->output) || cov_track_kind_of(o->output, &kind, NULL))
        return o->has_kind ? o->kind : COV_TRACK_BIGWIG;
    return kind;
}

static int check_options(const struct cov_convert_options *o, struct cov_err *e)
{
    bool is_rpgc = o->normalization == COV_NORMALIZE_RPGC;
    if (is_rpgc != (o->genome_size > 0))
        return cov_fail(e, COV_EUSAGE,
                        is_rpgc ? "--normalize rpgc needs --effective-genome-size"
                                : "--effective-genome-size needs --normalize rpgc");
    if (!o->output)
        return cov_fail(e, COV_EUSAGE, "-o/--output is missing");
    if (cov_path_names_dir(o->output)) {
        if (o->basename && strchr(o->basename, '/'))
            return cov_fail(e, COV_EUSAGE, "--basename %s: must not contain '/'", o->basename);
        return COV_OK;
    }
    enum cov_track_kind kind;
    bool is_std = cov_path_is_std(o->output);
    int rc = cov_track_kind_of(o->output, &kind, e);
    if (!rc && o->has_kind && !is_std)
        rc = cov_fail(e, COV_EUSAGE, "--format is for an output directory or '-'; %s is a file",
                      o->output);
    if (!rc && is_std && kind_of_output(o) != COV_TRACK_BEDGRAPH && isatty(STDOUT_FILENO))
        rc = cov_fail(e, COV_EUSAGE, "-o -: a compressed track cannot go to a terminal");
    if (!rc && o->basename)
        rc = cov_fail(e, COV_EUSAGE, "--basename is for an output directory; %s is a file",
                      o->output);
    return rc;
}

/* Checks the output options against the input. */
static int check_source(const struct convert_job *j, struct cov_err *e)
{
    if (j->source->has_lengths || kind_of_output(j->o) != COV_TRACK_BIGWIG)
        return COV_OK;
    return cov_fail(e, COV_EINPUT,
                    "%s: unknown contig lengths, which bigWig needs; use --chrom-sizes FILE",
                    j->source->name);
}

/* ---------------------------------------------------------------- outputs */

/* Returns the suffix of the file names, as in Predmoter: "_avg_strand_bl_ws=150", or "_bl_ws=150"
 * for a track. */
static char *name_tail(const struct cov_source_options *o, bool is_track, struct cov_err *e)
{
    static const char *const strands[] = {"_avg_strand", "_+_strand", "_-_strand"};
    char smoothing[COV_SMOOTHING_TAIL];
    cov_smoothing_tail(&o->values.smoothing, smoothing);
    return cov_strfmt(e, "%s%s%s", is_track ? "" : strands[o->strand],
                      o->blacklist_path ? "_bl" : "", smoothing);
}

static int open_files(struct convert_job *j, const char *tail, const char *stem, struct cov_err *e)
{
    const struct cov_convert_options *o = j->o;
    const struct cov_track_target target = {.output = o->output,
                                            .force = o->force,
                                            .pool = j->pool,
                                            .tmpdir = o->tmpdir,
                                            .basename = o->basename ? o->basename : stem,
                                            .tail = tail,
                                            .kind = kind_of_output(o)};
    int rc = cov_track_files_open(&target, j->source->contigs, j->source->datasets,
                                  j->source->n_datasets, cov_pool_size(j->pool), &j->files, e);
    for (size_t k = 0; !rc && k < j->source->n_datasets; k++)
        j->sinks[k] = cov_track_files_sink(j->files, k);
    return rc;
}

static int open_outputs(struct convert_job *j, struct cov_err *e)
{
    const struct cov_track_source *s = j->source;
    j->sinks = cov_calloc(s->n_datasets, sizeof *j->sinks, e);
    if (!j->sinks)
        return COV_ENOMEM;
    char *tail = name_tail(&j->o->source, s->is_track, e);
    char *stem = cov_path_stem(j->input, e);
    int rc = tail && stem ? COV_OK : COV_ENOMEM;
    if (!rc)
        rc = open_files(j, tail, stem, e);
    free(tail);
    free(stem);
    return rc;
}

static void tell(const struct convert_job *j)
{
    for (size_t k = 0; k < j->source->n_datasets; k++) {
        const struct cov_track_sink *s = cov_track_files_sink(j->files, k);
        const struct cov_track_summary *sum = &s->summary;
        const char *dataset = j->source->datasets[k];
        cov_debug("%s: %s%s%llu interval%s on %zu contig%s, values %.9g to %.9g", s->name,
                  dataset ? dataset : "", dataset ? ", " : "", (unsigned long long)sum->n_intervals,
                  cov_text_s((int64_t)sum->n_intervals), cov_track_n_contigs(s),
                  cov_text_s((int64_t)cov_track_n_contigs(s)), sum->min, sum->max);
    }
}

/* ---------------------------------------------------------------- normalization */

static int add_nothing(struct cov_track_sink *s, const struct cov_interval *iv, size_t n,
                       struct cov_err *e)
{
    (void)s, (void)iv, (void)n, (void)e;
    return COV_OK;
}

static void free_nothing(struct cov_track_sink *s)
{
    (void)s;
}

/* Sets j->factors from the sums of the tracks of j->whole. */
static int find_factors(struct convert_job *j, struct cov_progress *progress, struct cov_err *e)
{
    static const struct cov_track_format format = {.add = add_nothing, .free = free_nothing};
    const struct cov_job job = {.pool = j->pool, .progress = progress};
    struct cov_track_source *s = j->whole;
    size_t n = s->n_datasets;
    struct cov_track_sink *sums = cov_calloc(n, sizeof *sums, e);
    struct cov_track_sink **sinks = cov_calloc(n, sizeof *sinks, e);
    j->factors = cov_calloc(n, sizeof *j->factors, e);
    int rc = sums && sinks && j->factors ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++) {
        sinks[k] = &sums[k];
        sums[k].format = &format; /* for cov_track_free */
        rc = cov_track_init(&sums[k], &format, s->name, s->contigs, e);
    }
    if (!rc)
        rc = cov_track_source_run(s, sinks, "summing", &job, e);
    for (size_t k = 0; !rc && k < n; k++) {
        double sum = sums[k].summary.sum;
        bool is_cpm = j->o->normalization == COV_NORMALIZE_CPM;
        if (!(sum > 0))
            rc = cov_fail(e, COV_EINPUT, "%s: %s%sthe sum of the values is %g; cannot normalize",
                          s->name, s->datasets[k] ? s->datasets[k] : "", s->datasets[k] ? ": " : "",
                          sum);
        else
            j->factors[k] = (is_cpm ? 1e6 : (double)j->o->genome_size) / sum;
    }
    for (size_t k = 0; sinks && k < n; k++)
        cov_track_free(sinks[k]);
    free(sinks);
    free(sums);
    cov_track_source_close(j->whole);
    j->whole = NULL;
    return rc;
}

/* ---------------------------------------------------------------- inputs */

static int check_input(const struct convert_job *j, struct cov_err *e)
{
    struct stat st;
    bool is_std = cov_path_is_std(j->input);
    if (j->o->normalization == COV_NORMALIZE_NONE ||
        (!is_std && (stat(j->input, &st) != 0 || S_ISREG(st.st_mode))))
        return COV_OK;
    return cov_fail(e, is_std ? COV_EUSAGE : COV_EINPUT,
                    "--normalize reads the input twice; %s is not a file that can be read again",
                    is_std ? "standard input" : j->input);
}

/* Opens j->source with j->options, and, to normalize, the whole input. */
static int open_input(struct convert_job *j, unsigned n_threads, struct cov_err *e)
{
    struct cov_source_options *all = &j->whole_options;
    int rc = cov_track_source_open_path(j->input, &j->options, n_threads, &j->source, e);
    if (!rc && j->source)
        rc = check_source(j, e);
    if (rc || j->o->normalization == COV_NORMALIZE_NONE)
        return rc;
    *all = j->o->source;
    all->values.scale = 1;
    all->values.skip_zero = all->values.has_min = false;
    all->values.bin = 0;
    all->regions.n = 0;
    all->bed_path = NULL;
    all->quiet = true; /* j->source warns */
    return cov_track_source_open_path(j->input, all, n_threads, &j->whole, e);
}

/* ---------------------------------------------------------------- all of it */

int cov_convert_run(const char *input, const struct cov_convert_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e)
{
    struct convert_job this = {.input = input, .o = options, .options = options->source},
                       *j = &this;
    struct cov_job job = {.progress = progress, .stats = stats};
    int rc = check_options(j->o, e);
    if (!rc)
        rc = check_input(j, e);
    if (!rc)
        rc = open_input(j, n_threads, e);
    if (!rc)
        rc = cov_pool_new(n_threads, &j->pool, e);
    if (!rc)
        rc = open_outputs(j, e);
    job.pool = j->pool;
    if (!rc)
        rc = cov_track_source_describe(j->source, stats, e);
    if (!rc && j->whole)
        rc = find_factors(j, progress, e);
    j->options.factors = j->factors;
    if (!rc)
        rc = cov_track_source_run(j->source, j->sinks, "converting", &job, e);
    double beg = cov_clock();
    if (!rc)
        rc = cov_track_files_commit(j->files, e);
    if (!rc && stats)
        cov_stats_add_stage(stats, "finish", cov_clock() - beg);
    if (!rc)
        tell(j);
    cov_track_files_free(j->files);
    cov_track_source_close(j->source);
    cov_track_source_close(j->whole);
    free(j->sinks);
    free(j->factors);
    cov_pool_free(j->pool);
    return rc;
}
