/* convert.c - see convert.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/convert.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/pool.h"
#include "common/base/text.h"
#include "common/job/tracks/plot.h"

struct job {
    const char *input;
    const struct cov_convert_options *o;
    struct cov_pool *pool;
    struct cov_track_source *source;
    struct cov_plot *plot; /* NULL: none */
    struct cov_track_files *files;
    struct cov_track_sink **sinks; /* write to the files, the picture, or both */
};

/* ---------------------------------------------------------------- options */

static int check_options(const struct cov_convert_options *o, struct cov_err *e)
{
    if (!o->output) {
        if (!o->plot_path && !o->plot_region)
            return cov_fail(e, COV_EUSAGE, "-o/--output is missing");
        if (o->has_kind || o->basename)
            return cov_fail(e, COV_EUSAGE, "%s is for an output folder, but --output is missing",
                            o->has_kind ? "--format" : "--basename");
        return COV_OK;
    }
    if (cov_path_names_dir(o->output)) {
        if (o->basename && strchr(o->basename, '/'))
            return cov_fail(e, COV_EUSAGE, "--basename %s: must not contain '/'", o->basename);
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

/* Checks the output options against the input. */
static int check_source(const struct job *j, struct cov_err *e)
{
    enum cov_track_kind kind = j->o->has_kind ? j->o->kind : COV_TRACK_BIGWIG;
    int rc = COV_OK;
    if (!j->o->output)
        return COV_OK;
    if (!cov_path_names_dir(j->o->output))
        rc = cov_track_kind_of(j->o->output, &kind, e);
    if (!rc && kind == COV_TRACK_BIGWIG && !j->source->has_lengths)
        rc = cov_fail(e, COV_EUSAGE,
                      "%s: unknown contig lengths, which bigWig needs; use --chrom-sizes FILE",
                      j->source->name);
    return rc;
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

static int open_files(struct job *j, const char *tail, const char *stem, struct cov_err *e)
{
    const struct cov_convert_options *o = j->o;
    const struct cov_track_target target = {.output = o->output,
                                            .force = o->force,
                                            .pool = j->pool,
                                            .tmpdir = o->tmpdir,
                                            .basename = o->basename ? o->basename : stem,
                                            .tail = tail,
                                            .kind = o->has_kind ? o->kind : COV_TRACK_BIGWIG};
    int rc = cov_track_files_open(&target, j->source->contigs, j->source->datasets,
                                  j->source->n_datasets, cov_pool_size(j->pool), &j->files, e);
    for (size_t k = 0; !rc && k < j->source->n_datasets; k++)
        j->sinks[k] = cov_track_files_sink(j->files, k);
    return rc;
}

static int open_outputs(struct job *j, struct cov_err *e)
{
    const struct cov_track_source *s = j->source;
    j->sinks = cov_calloc(s->n_datasets, sizeof *j->sinks, e);
    if (!j->sinks)
        return COV_ENOMEM;
    char *tail = name_tail(&j->o->source, s->is_track, e);
    char *stem = cov_path_stem(j->input, e);
    int rc = tail && stem ? COV_OK : COV_ENOMEM;
    if (!rc && j->o->output)
        rc = open_files(j, tail, stem, e);
    if (!rc && j->plot)
        rc = cov_plot_add(j->plot, 0, s, s->datasets, j->sinks, e);
    free(tail);
    free(stem);
    return rc;
}

/* Gives all outputs their final names, once all of them are complete. */
static int commit(struct job *j, struct cov_err *e)
{
    int rc = j->plot ? cov_plot_draw(j->plot, e) : COV_OK;
    struct cov_outfile *picture = j->plot ? cov_plot_file(j->plot) : NULL;
    if (rc)
        return rc;
    return j->files ? cov_track_files_commit(j->files, picture, e) : cov_outfile_commit(picture, e);
}

static void tell(const struct job *j)
{
    for (size_t k = 0; j->files && k < j->source->n_datasets; k++) {
        const struct cov_track_sink *s = cov_track_files_sink(j->files, k);
        const struct cov_track_summary *sum = &s->summary;
        const char *dataset = j->source->datasets[k];
        cov_debug("%s: %s%s%llu interval%s on %zu contig%s, values %.9g to %.9g", s->name,
                  dataset ? dataset : "", dataset ? ", " : "", (unsigned long long)sum->n_intervals,
                  cov_text_s((int64_t)sum->n_intervals), cov_track_n_contigs(s),
                  cov_text_s((int64_t)cov_track_n_contigs(s)), sum->min, sum->max);
    }
}

/* ---------------------------------------------------------------- all of it */

int cov_convert_run(const char *input, const struct cov_convert_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e)
{
    struct job this = {.input = input, .o = options}, *j = &this;
    struct cov_source_options o = j->o->source;
    struct cov_source_input in = {0};
    struct cov_job job = {.progress = progress, .stats = stats};
    int rc = check_options(j->o, e);
    if (!rc)
        rc = cov_plot_new(j->o->plot_path, j->o->plot_region, j->o->force, j->o->tmpdir, &j->plot,
                          e);
    if (!rc && !j->o->output)
        o.only = cov_plot_range(j->plot);
    if (!rc)
        rc = cov_source_input_detect(j->input, &in, e);
    if (!rc)
        rc = cov_track_source_open(&in, &o, n_threads, &j->source, e);
    if (!rc)
        rc = check_source(j, e);
    if (!rc)
        rc = cov_pool_new(n_threads, &j->pool, e);
    if (!rc)
        rc = open_outputs(j, e);
    job.pool = j->pool;
    if (!rc)
        rc =
            cov_track_source_run(j->source, j->sinks, j->files ? "converting" : "reading", &job, e);
    double beg = cov_clock();
    if (!rc)
        rc = commit(j, e);
    if (!rc && stats)
        cov_stats_add_stage(stats, "finish", cov_clock() - beg);
    if (!rc)
        tell(j);
    cov_plot_free(j->plot);
    cov_track_files_free(j->files);
    cov_track_source_close(j->source);
    free(j->sinks);
    cov_pool_free(j->pool);
    return rc;
}
