/* profile_inputs.c - see profile_inputs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_inputs.h"

#include <inttypes.h>
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
#include "common/seq/regions.h"
#include "common/track/bins.h"

/* A larger share of bases without a value causes a warning. */
static const double MOST_MISSING = 0.1;

/* Detects the kinds of all inputs before the first is read, which can take long. */
static int detect_inputs(struct cov_joint_input *list, char *const *paths, size_t n,
                         struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = cov_source_input_detect(paths[i], &list[i].in, e);
    return rc;
}

static int run_source(const struct cov_joint_input *in, struct cov_track_sink *const *sinks,
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

static int read_input(struct cov_joint_input *in, size_t number, const struct cov_profile_reader *r,
                      struct cov_names *taken, const struct cov_profile_request *request,
                      struct cov_err *e)
{
    int rc = cov_track_source_open(&in->in, &in->o, request->n_threads, &in->source, e);
    if (rc)
        return rc;
    const struct cov_profile_input seen = {in->in.path, in->source, &in->o, taken, number};
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
    struct cov_joint_input *list = cov_calloc(n, sizeof *list, e);
    if (!list)
        return COV_ENOMEM;
    int rc = cov_names_new(&taken, e);
    if (!rc)
        rc = detect_inputs(list, request->inputs, n, e);
    if (!rc)
        rc = cov_joint_inputs_share(list, n, &request->source, e);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = read_input(&list[i], i, r, taken, request, e);
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
    int rc = cov_annotation_read(f->path, f->type, false, out, e);
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

int cov_profile_features_fit(const struct cov_annotation *a, const struct cov_profile_input *in,
                             size_t dataset, const struct cov_track_sink *sink, struct cov_err *e)
{
    if (sink->summary.n_bases == 0)
        return cov_fail(e, COV_EINPUT, "%s: no base has a value", sink->name);
    struct cov_listing known = {0};
    int64_t *lengths = cov_calloc(cov_names_count(a->contigs), sizeof *lengths, e);
    int rc = lengths ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < cov_track_n_contigs(sink); i++) {
        const char *name = cov_track_contig_name(sink, i);
        size_t k;
        cov_listing_add(&known, name);
        if (cov_names_find(a->contigs, name, strlen(name), &k))
            lengths[k] = cov_track_contig_length(sink, i);
    }
    const struct cov_annotation_target target = {sink->name, lengths, in->source->has_lengths,
                                                 &known,
                                                 dataset == 0 && cov_source_is_whole(in->o)};
    if (!rc)
        rc = cov_annotation_fit(a, &target, e);
    free(lengths);
    return rc;
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

/* ---------------------------------------------------------------- bins: rows */

static size_t end_of(const struct cov_bin_means *b, size_t i)
{
    return i + 1 < b->n_contigs ? b->contigs[i + 1].first : b->n;
}

static int64_t length_of(const struct cov_bin_means *b, size_t i, bool has_lengths)
{
    return has_lengths ? cov_track_contig_length(&b->sink, b->contigs[i].contig) : 0;
}

/* The bins of the first track become the rows. */
static int make_rows(struct cov_track_bins *t, const struct cov_bin_means *b, bool has_lengths,
                     struct cov_err *e)
{
    int rc = cov_names_new(&t->contigs, e);
    if (!rc)
        rc = COV_RESERVE(&t->first, &t->cap_first, b->n_contigs + 1, e);
    if (!rc)
        rc = COV_RESERVE(&t->lengths, &t->cap_lengths, b->n_contigs + 1, e);
    for (size_t i = 0; !rc && i < b->n_contigs; i++) {
        const char *name = cov_track_contig_name(&b->sink, b->contigs[i].contig);
        size_t k;
        bool is_new;
        rc = cov_names_add(t->contigs, name, strlen(name), &k, &is_new, e);
        t->first[i] = b->contigs[i].first;
        t->lengths[i] = length_of(b, i, has_lengths);
    }
    if (!rc)
        t->first[b->n_contigs] = t->n_rows = b->n;
    return rc;
}

static int fail_names(const struct cov_track_bins *t, const struct cov_bin_means *b,
                      struct cov_err *e)
{
    struct cov_listing here = {0}, there = {0};
    for (size_t i = 0; i < b->n_contigs; i++)
        cov_listing_add(&here, cov_track_contig_name(&b->sink, b->contigs[i].contig));
    for (size_t i = 0; i < cov_names_count(t->contigs); i++)
        cov_listing_add(&there, cov_names_get(t->contigs, i, NULL));
    return cov_fail(e, COV_EINPUT,
                    "%s: none of its sequences (%s%s) is in %s (%s%s); --rename maps names",
                    b->sink.name, here.text, cov_listing_more(&here), t->first_input, there.text,
                    cov_listing_more(&there));
}

/* Copies the bins of a track to its column. */
static int fill_column(const struct cov_track_bins *t, const struct cov_bin_means *b,
                       bool has_lengths, double *column, struct cov_err *e)
{
    size_t n_shared = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        column[i] = (double)NAN;
    for (size_t i = 0; i < b->n_contigs; i++) {
        const char *name = cov_track_contig_name(&b->sink, b->contigs[i].contig);
        const int64_t length = length_of(b, i, has_lengths);
        size_t k;
        if (!cov_names_find(t->contigs, name, strlen(name), &k))
            continue;
        if (length > 0 && t->lengths[k] > 0 && length != t->lengths[k])
            return cov_fail(e, COV_EINPUT, "%s: %s has %" PRId64 " bases, but %" PRId64 " in %s",
                            b->sink.name, name, length, t->lengths[k], t->first_input);
        const size_t n = end_of(b, i) - b->contigs[i].first, room = t->first[k + 1] - t->first[k];
        n_shared++;
        if (n > 0 && room > 0)
            memcpy(column + t->first[k], b->means + b->contigs[i].first,
                   (n < room ? n : room) * sizeof *column);
    }
    return n_shared > 0 ? COV_OK : fail_names(t, b, e);
}

static int add_column(struct cov_track_bins *t, const struct cov_profile_input *in, size_t k,
                      const struct cov_bin_means *b, struct cov_err *e)
{
    const bool has_lengths = in->source->has_lengths;
    if (COV_RESERVE(&t->names, &t->cap_names, t->n + 1, e) ||
        COV_RESERVE(&t->files, &t->cap_files, t->n + 1, e) ||
        COV_RESERVE(&t->means, &t->cap_means, t->n + 1, e))
        return COV_ENOMEM;
    if (b->sink.summary.n_bases == 0)
        return cov_fail(e, COV_EINPUT, "%s: no base has a value", b->sink.name);
    int rc = t->n == 0 ? make_rows(t, b, has_lengths, e) : COV_OK;
    if (rc)
        return rc;
    t->means[t->n] = cov_malloc(t->n_rows, sizeof(double), e);
    t->files[t->n] = cov_strdup(b->sink.name, e);
    t->names[t->n] = NULL;
    rc =
        t->means[t->n] && t->files[t->n] ? cov_profile_name(in, k, &t->names[t->n], e) : COV_ENOMEM;
    t->n++;
    return rc ? rc : fill_column(t, b, has_lengths, t->means[t->n - 1], e);
}

/* ---------------------------------------------------------------- bins: reading */

static int open_sink(void *arg, const struct cov_profile_input *in, size_t k,
                     struct cov_track_sink **sink, struct cov_err *e)
{
    struct cov_track_bins *t = arg;
    const struct cov_track_source *source = in->source;
    int rc = k == 0 && !t->first_input && t->first_is_track
                 ? cov_track_source_check_single(source, "--datasets", e)
                 : COV_OK;
    if (!rc && !t->first_input) {
        t->first_input = cov_strdup(source->name, e);
        rc = t->first_input ? COV_OK : COV_ENOMEM;
    }
    return rc ? rc
              : cov_bin_means_init((struct cov_bin_means *)*sink, t->width, source->name,
                                   source->contigs, e);
}

static int take_column(void *arg, const struct cov_profile_input *in, size_t k,
                       struct cov_track_sink *sink, struct cov_err *e)
{
    int rc = add_column(arg, in, k, (const struct cov_bin_means *)sink, e);
    if (!rc && k + 1 == in->source->n_datasets)
        (void)cov_profile_missing(in, sink);
    return rc;
}

int cov_track_bins_read(struct cov_track_bins *t, const struct cov_profile_request *request,
                        struct cov_err *e)
{
    const struct cov_profile_reader r = {sizeof(struct cov_bin_means), open_sink, take_column, t};
    return cov_profile_inputs_read(request, &r, e);
}

size_t cov_rows_keep_whole(double *const *values, size_t n, size_t n_rows)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n_rows; i++) {
        bool is_whole = true;
        for (size_t k = 0; k < n; k++)
            is_whole = is_whole && !isnan(values[k][i]);
        for (size_t k = 0; is_whole && k < n; k++)
            values[k][n_kept] = values[k][i];
        n_kept += is_whole;
    }
    return n_kept;
}

int cov_rows_fail_few(const char *const *names, size_t n, size_t n_rows, const char *what,
                      const char *needs, struct cov_err *e)
{
    struct cov_listing tracks = {0};
    for (size_t k = 0; k < n; k++)
        cov_listing_add(&tracks, names[k]);
    return cov_fail(e, COV_EINPUT, "%s%s: %zu %s%s a value in %s; %s two", tracks.text,
                    cov_listing_more(&tracks), n_rows, what, n_rows == 1 ? " has" : "s have",
                    n == 1 ? "the track" : "all tracks", needs);
}

struct cov_bin_place cov_track_bins_place(const struct cov_track_bins *t, size_t row)
{
    size_t i = 0, end = cov_names_count(t->contigs);
    while (end - i > 1) {
        const size_t middle = i + (end - i) / 2;
        if (t->first[middle] <= row)
            i = middle;
        else
            end = middle;
    }
    const int64_t beg = (int64_t)(row - t->first[i]) * t->width, length = t->lengths[i];
    return (struct cov_bin_place){
        .name = cov_names_get(t->contigs, i, NULL),
        .contig = i,
        .beg = beg,
        .end = length > beg && length < beg + t->width ? length : beg + t->width,
        .is_first = row == t->first[i],
        .is_last = row + 1 == t->first[i + 1],
    };
}

void cov_track_bins_fini(struct cov_track_bins *t)
{
    for (size_t k = 0; k < t->n; k++) {
        free(t->names[k]);
        free(t->files[k]);
        free(t->means[k]);
    }
    free(t->names);
    free(t->files);
    free(t->means);
    cov_names_free(t->contigs);
    free(t->first_input);
    free(t->first);
    free(t->lengths);
    *t = (struct cov_track_bins){0};
}
