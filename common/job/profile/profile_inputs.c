/* profile_inputs.c - see profile_inputs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/chunk/bases.h"
#include "common/cli/stats.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"
#include "common/h5/h5.h"

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
    const bool yes = cov_bases_are_in(h5, NULL) > 0 && cov_h5_has(h5, "prediction", NULL) == 0;
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
            list[i].o.datasets.n = 0;
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
    if (n_signal == 0 && (o->measured || o->datasets.n > 0 || o->strand != COV_STRAND_AVG))
        return cov_fail(e, COV_EINPUT, "--%s is for predictions and genome files; there is none",
                        o->measured         ? "experimental"
                        : o->datasets.n > 0 ? "datasets"
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
    const struct cov_job job = {.progress = request->progress, .stats = stats};
    int rc = cov_track_source_run(in->source, sinks, "reading", &job, e);
    stats->bases += n_bases;
    stats->chunks = -1;
    return rc;
}

static void free_sinks(struct cov_track_sink **sinks, size_t n, bool is_ours)
{
    for (size_t k = 0; sinks && k < n; k++) {
        if (sinks[k] && sinks[k]->format)
            cov_track_free(sinks[k]);
        if (is_ours)
            free(sinks[k]);
    }
    free(sinks);
}

static int read_input(struct input *in, const struct cov_profile_reader *r, struct cov_names *taken,
                      const struct cov_profile_request *request, struct cov_err *e)
{
    int rc = cov_track_source_open(&in->in, &in->o, request->n_threads, &in->source, e);
    if (rc)
        return rc;
    const struct cov_profile_input seen = {in->in.path, in->source, &in->o, taken};
    const size_t n = in->source->n_datasets;
    struct cov_track_sink **sinks = cov_calloc(n, sizeof(struct cov_track_sink *), e);
    rc = sinks ? cov_track_source_describe(in->source, request->stats, e) : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++) {
        sinks[k] = r->sink_bytes > 0 ? cov_calloc(1, r->sink_bytes, e) : NULL;
        rc = r->sink_bytes == 0 || sinks[k] ? r->open(r->arg, &seen, k, &sinks[k], e) : COV_ENOMEM;
    }
    if (!rc)
        rc = run_source(in, sinks, request, e);
    for (size_t k = 0; !rc && k < n; k++)
        rc = r->take(r->arg, &seen, k, sinks[k], e);
    free_sinks(sinks, n, r->sink_bytes > 0);
    return rc;
}

int cov_profile_inputs_read(const struct cov_profile_request *request,
                            const struct cov_profile_reader *r, struct cov_err *e)
{
    const size_t n = request->n_inputs;
    struct cov_names *taken = NULL;
    struct input *list = cov_calloc(n, sizeof *list, e);
    if (!list)
        return COV_ENOMEM;
    int rc = cov_names_new(&taken, e);
    if (!rc)
        rc = detect_inputs(list, request->inputs, n, e);
    if (!rc)
        rc = share_options(list, n, &request->source, e);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = read_input(&list[i], r, taken, request, e);
        cov_track_source_close(list[i].source);
        list[i].source = NULL;
    }
    for (size_t i = 0; i < n; i++)
        cov_source_input_close(&list[i].in);
    cov_names_free(taken);
    free(list);
    return rc;
}

double cov_profile_missing(const struct cov_profile_input *in, const struct cov_track_sink *sink)
{
    const struct cov_track_source *source = in->source;
    double all = 0;
    if (!source->has_lengths || !cov_source_is_whole(in->o))
        return (double)NAN;
    for (size_t i = 0; i < cov_track_n_contigs(sink); i++)
        all += (double)cov_track_contig_length(sink, i);
    const double missing = 1 - (double)sink->summary.n_bases / all;
    if (missing > MOST_MISSING)
        cov_warn("%s: missing values at %.0f %% of its bases, which do not count%s", source->name,
                 100 * missing, source->is_track ? "; --fill-gaps counts them as 0" : "");
    return missing;
}

int cov_profile_name(const struct cov_profile_input *in, size_t k, char **out, struct cov_err *e)
{
    const bool has_dataset = in->source->n_datasets > 1;
    const char *const separator = has_dataset ? "_" : "";
    const char *const dataset = has_dataset ? in->source->datasets[k] : "";
    char *stem = cov_path_stem(in->path, e);
    char *name = stem ? cov_strfmt(e, "%s%s%s", stem, separator, dataset) : NULL;
    size_t i;
    bool is_new;
    if (name && cov_names_find(in->taken, name, strlen(name), &i)) {
        free(name);
        name = cov_strfmt(e, "%s%s%s", in->path, separator, dataset);
    }
    free(stem);
    *out = name;
    if (!name)
        return COV_ENOMEM;
    cov_make_printable(name);
    return cov_names_add(in->taken, name, strlen(name), &i, &is_new, e);
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

int cov_profile_job_run(void *job, const struct cov_profile_steps *steps,
                        const struct cov_profile_request *request, struct cov_err *e)
{
    const struct cov_table_writer writer = {steps->print_table, steps->write_second, steps->draw,
                                            job};
    struct cov_table_outputs out = COV_TABLE_OUTPUTS_INIT;
    int rc = cov_table_outputs_begin(&out, &request->paths, e);
    if (!rc)
        rc = steps->read(job, request, e);
    const double beg = cov_clock();
    if (!rc && steps->measure)
        rc = steps->measure(job, e);
    if (!rc)
        rc = cov_table_outputs_write(&out, &writer, e);
    if (!rc)
        rc = steps->tell(job, request->stats, e);
    cov_stats_add_stage(request->stats, "write", cov_clock() - beg);
    return cov_table_outputs_end(&out, rc,
                                 &(struct cov_table_job){steps->print_json, steps->free_job, job},
                                 request->stats, e);
}
