/* profile_inputs.c - see profile_inputs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/text.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"
#include "common/job/job.h"
#include "common/store/h5.h"

/* A larger share of bases without a value causes a warning. */
static const double MOST_MISSING = 0.1;

/* An input with options that fit its kind. */
struct input {
    struct cov_source_input in;
    struct cov_source_options o;
    struct cov_track_source *source;
};

/* Detects the kinds of all inputs before the first is read, which can take long. */
static int detect_inputs(struct input *list, char *const *paths, size_t n, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = cov_source_input_detect(paths[i], &list[i].in, e);
    return rc;
}

/* Returns true for a genome file, which has measured coverage or none, but no predictions. Errors
 * are left to the next function that opens the file. */
static bool is_genome(const struct cov_source_input *in)
{
    struct cov_h5 *h5;
    if (in->is_track || in->in || cov_h5_open(in->path, &h5, NULL))
        return false;
    const bool yes = cov_h5_has(h5, "data/X", NULL) > 0 && cov_h5_has(h5, "prediction", NULL) == 0;
    cov_h5_close(h5);
    return yes;
}

/* Gives the options to the inputs that they are for. With a single input, the source itself refuses
 * those that do not fit. */
static int share_options(struct input *list, size_t n, const struct cov_source_options *o,
                         struct cov_err *e)
{
    size_t n_signal = 0, n_measured = 0, n_bedgraph = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_track = list[i].in.is_track;
        const bool is_bedgraph =
            is_track && cov_kind_of_file(list[i].in.path, NULL) != COV_KIND_BIGWIG;
        list[i].o = *o;
        n_signal += !is_track;
        n_bedgraph += is_bedgraph;
        if (n > 1 && is_track) {
            list[i].o.measured = list[i].o.replicates = false;
            list[i].o.n_datasets = 0;
            list[i].o.strand = COV_STRAND_AVG;
        }
        if (n > 1 && !is_bedgraph)
            list[i].o.sizes_path = NULL;
        list[i].o.fill_gaps = o->fill_gaps && is_track;
        list[i].o.measured = list[i].o.measured || is_genome(&list[i].in);
        n_measured += !is_track && list[i].o.measured;
    }
    if (n_measured == 0 && o->replicates)
        return cov_fail(e, COV_EINPUT, "--replicates is for genome files; there is none");
    if (n_signal == 0 && (o->measured || o->n_datasets > 0 || o->strand != COV_STRAND_AVG))
        return cov_fail(e, COV_EINPUT, "--%s is for predictions and genome files; there is none",
                        o->measured         ? "experimental"
                        : o->n_datasets > 0 ? "datasets"
                                            : "strand");
    if (n_signal == n && o->fill_gaps)
        return cov_fail(e, COV_EINPUT, "--fill-gaps is for bigWig and bedGraph; there is none");
    if (n_bedgraph == 0 && o->sizes_path)
        return cov_fail(e, COV_EINPUT, "--chrom-sizes is for bedGraph; there is none");
    return COV_OK;
}

static int run_source(const struct input *in, struct cov_track_sink *const *sinks,
                      const struct cov_profile_request *request, struct cov_err *e)
{
    struct cov_stats *stats = request->stats;
    const int64_t n_bases = stats->bases > 0 ? stats->bases : 0;
    struct cov_job job = {.progress = request->progress, .stats = stats};
    int rc = cov_pool_new(request->n_threads, &job.pool, e);
    if (!rc)
        rc = cov_track_source_run(in->source, sinks, "reading", &job, e);
    stats->bases += n_bases;
    stats->chunks = -1;
    cov_pool_free(job.pool);
    return rc;
}

static int read_input(struct input *in, const struct cov_profile_reader *r,
                      const struct cov_profile_request *request, struct cov_err *e)
{
    int rc = cov_track_source_open(&in->in, &in->o, request->n_threads, &in->source, e);
    if (rc)
        return rc;
    struct cov_track_sink **sinks =
        cov_calloc(in->source->n_datasets, sizeof(struct cov_track_sink *), e);
    rc = sinks ? cov_track_source_describe(in->source, request->stats, e) : COV_ENOMEM;
    if (!rc)
        rc = r->begin(r->arg, in->in.path, in->source, sinks, e);
    if (!rc)
        rc = run_source(in, sinks, request, e);
    if (!rc)
        rc = r->check(r->arg, in->source, &in->o, e);
    r->end(r->arg, in->source);
    free(sinks);
    return rc;
}

int cov_profile_inputs_read(const struct cov_profile_request *request,
                            const struct cov_profile_reader *r, struct cov_err *e)
{
    const size_t n = request->n_inputs;
    struct input *list = cov_calloc(n, sizeof *list, e);
    if (!list)
        return COV_ENOMEM;
    int rc = detect_inputs(list, request->inputs, n, e);
    if (!rc)
        rc = share_options(list, n, &request->source, e);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = read_input(&list[i], r, request, e);
        cov_track_source_close(list[i].source);
        list[i].source = NULL;
    }
    for (size_t i = 0; i < n; i++)
        cov_source_input_close(&list[i].in);
    free(list);
    return rc;
}

double cov_profile_missing(const struct cov_track_sink *sink, const struct cov_track_source *source,
                           const struct cov_source_options *o)
{
    double all = 0;
    if (!source->has_lengths || o->n_regions > 0 || o->bed_path || o->blacklist_path)
        return (double)NAN;
    for (size_t i = 0; i < cov_track_n_contigs(sink); i++)
        all += (double)cov_track_contig_length(sink, i);
    const double missing = 1 - (double)sink->summary.n_bases / all;
    if (missing > MOST_MISSING)
        cov_warn("%s: missing values at %.0f %% of its bases, which do not count%s", source->name,
                 100 * missing, source->is_track ? "; --fill-gaps counts them as 0" : "");
    return missing;
}

int cov_profile_name(struct cov_names *taken, const char *path, const char *dataset, char **out,
                     struct cov_err *e)
{
    char *stem = cov_path_stem(path, e);
    const char *const separator = dataset ? "_" : "";
    dataset = dataset ? dataset : "";
    char *name = stem ? cov_strfmt(e, "%s%s%s", stem, separator, dataset) : NULL;
    size_t i;
    bool is_new;
    if (name && cov_names_find(taken, name, strlen(name), &i)) {
        free(name);
        name = cov_strfmt(e, "%s%s%s", path, separator, dataset);
    }
    free(stem);
    *out = name;
    if (!name)
        return COV_ENOMEM;
    cov_text_make_printable(name);
    return cov_names_add(taken, name, strlen(name), &i, &is_new, e);
}

int cov_profile_features_read(const struct cov_profile_features *f, struct cov_annotation *out,
                              struct cov_err *e)
{
    int rc = cov_annotation_read(f->path, f->type, out, e);
    return rc ? rc : cov_profile_features_check(f, out, e);
}

int cov_profile_features_check(const struct cov_profile_features *f, const struct cov_annotation *a,
                               struct cov_err *e)
{
    return f->needs_types && a->is_bed
               ? cov_fail(e, COV_EINPUT,
                          "--feature: %s is a BED file, which has no types of features", f->path)
               : COV_OK;
}
