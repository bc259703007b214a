/* region_tracks.c - see profile_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/features/annotation.h"
#include "common/file/path.h"
#include "common/plot/region_plot.h"
#include "common/seq/regions.h"

enum { PREDICTED, MEASURED, OTHER };

struct region_track {
    char *name;    /* Owned */
    size_t series; /* its kind, for the legend */
    double *means; /* [width of the picture]; NaN: no value. Owned */
    double mean, largest;
};

/* Features below the tracks. */
struct lane {
    struct cov_annotation features;
    char *name; /* Owned */
    struct cov_feature_lane drawn;
};

/* Lives until --stats has been printed. */
struct region_job {
    struct cov_region_options o; /* strings: until the tracks have been read */
    struct cov_range range;      /* after the first track, exactly its extent */
    char *text;                  /* of this range. Owned */
    char *contig, *first_input;  /* of the first track. Owned */
    int64_t length;              /* of the contig, in the first track; 0: not known */
    struct cov_bins bins;        /* of the last track; the means are borrowed */
    struct region_track *tracks; /* [n]. Owned */
    size_t n, cap;
    struct lane *lanes; /* [n_lanes]: genes, then peaks. Owned */
    size_t n_lanes;
};

/* ---------------------------------------------------------------- tracks */

static int open_sink(void *arg, const struct cov_profile_input *in, size_t k,
                     struct cov_track_sink **sink, struct cov_err *e)
{
    struct region_job *j = arg;
    const struct cov_track_source *source = in->source;
    struct cov_bins_extent unused;
    if (k == 0 && j->n + source->n_datasets > COV_PLOT_MAX_ROWS)
        return cov_fail(e, COV_EINPUT, "too many tracks; the limit is %d", (int)COV_PLOT_MAX_ROWS);
    int rc = cov_bins_new(&j->range, COV_PLOT_BINS, source->name, source->contigs, sink, e);
    return rc || !source->contigs ? rc : cov_bins_extent(*sink, true, &unused, e);
}

/* Makes the range that of the first track, for all others. */
static int fix_range(struct region_job *j, const struct cov_track_source *source,
                     const struct cov_track_sink *sink, const struct cov_bins_extent *x,
                     struct cov_err *e)
{
    j->length = source->has_lengths ? cov_bins_contig_length(sink) : 0;
    j->contig = cov_strdup(x->contig, e);
    j->first_input = cov_strdup(source->name, e);
    j->text = cov_strfmt(e, "%s:%" PRId64 "-%" PRId64, x->contig, x->beg + 1, x->end);
    if (!j->contig || !j->first_input || !j->text)
        return COV_ENOMEM;
    j->range = (struct cov_range){.text = j->text,
                                  .name = j->contig,
                                  .n_name = strlen(j->contig),
                                  .beg = x->beg,
                                  .end = x->end};
    return COV_OK;
}

static size_t series_of(const struct cov_track_source *source)
{
    return strcmp(source->label, "predicted") == 0  ? PREDICTED
           : strcmp(source->label, "measured") == 0 ? MEASURED
                                                    : OTHER;
}

static int take_track(void *arg, const struct cov_profile_input *in, size_t k,
                      struct cov_track_sink *sink, struct cov_err *e)
{
    struct region_job *j = arg;
    const struct cov_track_source *source = in->source;
    struct cov_bins_extent x;
    int rc = cov_bins_extent(sink, source->has_lengths, &x, e);
    if (!rc && j->n == 0)
        rc = fix_range(j, source, sink, &x, e);
    const int64_t length = !rc && source->has_lengths ? cov_bins_contig_length(sink) : 0;
    if (length > 0 && j->length > 0 && length != j->length)
        rc = cov_fail(e, COV_EINPUT, "%s: %s has %" PRId64 " bases, but %" PRId64 " in %s",
                      source->name, j->contig, length, j->length, j->first_input);
    if (!rc)
        rc = COV_RESERVE(&j->tracks, &j->cap, j->n + 1, e);
    if (rc)
        return rc;
    struct region_track *t = &j->tracks[j->n++];
    *t = (struct region_track){.series = series_of(source), .largest = (double)NAN};
    x = (struct cov_bins_extent){j->contig, j->range.beg, j->range.end};
    cov_bins_get(sink, &x, &j->bins);
    t->means = cov_calloc(j->bins.n, sizeof *t->means, e);
    if (!t->means)
        return COV_ENOMEM;
    double sum = 0, n = 0;
    for (size_t i = 0; i < j->bins.n; i++) {
        const double y = t->means[i] = j->bins.means[i];
        sum += isnan(y) ? 0 : y;
        n += !isnan(y);
        t->largest = isnan(y) || y <= t->largest ? t->largest : y;
    }
    t->mean = sum / n;
    if (n == 0)
        cov_warn("%s: no base of the region has a value", source->name);
    return cov_profile_name(in, k, &t->name, e);
}

/* Replaces the names of the files by --labels. */
static int rename_tracks(struct region_job *j, struct cov_err *e)
{
    const struct cov_strings *given = &j->o.labels;
    struct cov_listing tracks = {0};
    for (size_t k = 0; k < j->n; k++)
        cov_listing_add(&tracks, j->tracks[k].name);
    if (given->n != j->n)
        return cov_fail(e, COV_EINPUT, "--labels: %zu label%s for %zu track%s: %s%s", given->n,
                        cov_text_s((int64_t)given->n), j->n, cov_text_s((int64_t)j->n), tracks.text,
                        cov_listing_more(&tracks));
    for (size_t k = 0; k < j->n; k++) {
        free(j->tracks[k].name);
        j->tracks[k].name = cov_strdup(given->items[k], e);
        if (!j->tracks[k].name)
            return COV_ENOMEM;
    }
    return COV_OK;
}

static int read_inputs(struct region_job *j, const struct cov_profile_request *request,
                       struct cov_err *e)
{
    const struct cov_profile_reader reader = {0, open_sink, take_track, j};
    struct cov_profile_request in_range = *request;
    in_range.source.only = &j->range;
    int rc = cov_profile_inputs_read(&in_range, &reader, e);
    return rc || j->o.labels.n == 0 ? rc : rename_tracks(j, e);
}

/* ---------------------------------------------------------------- features */

static int check_types(const struct lane *lane, const struct cov_profile_features *genes,
                       struct cov_err *e)
{
    const struct cov_annotation *a = &lane->features;
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        n += a->items[i].type == 0;
    return n > 0 ? cov_profile_features_check(genes, a, e)
                 : cov_fail(e, COV_EINPUT, "%s: no features of type %s", a->path, genes->type);
}

/* Reads the files before the tracks, which can take long. */
static int read_features(struct region_job *j, const struct cov_profile_features *genes,
                         struct cov_err *e)
{
    const struct cov_strings *peaks = &j->o.peaks;
    const bool has_genes = genes->path != NULL;
    const size_t n = has_genes + peaks->n;
    int rc = COV_OK;
    j->lanes = cov_calloc(n + 1, sizeof *j->lanes, e);
    char *types = has_genes ? cov_strfmt(e, "%s,exon", genes->type) : NULL;
    if (!j->lanes || (has_genes && !types))
        rc = COV_ENOMEM;
    while (!rc && j->n_lanes < n) {
        const bool is_genes = has_genes && j->n_lanes == 0;
        struct lane *lane = &j->lanes[j->n_lanes++];
        const char *path = is_genes ? genes->path : peaks->items[j->n_lanes - 1 - has_genes];
        lane->drawn.is_flat = !is_genes;
        lane->name = cov_path_stem(path, e);
        if (!lane->name)
            rc = COV_ENOMEM;
        else if (is_genes)
            rc = cov_annotation_read(path, types, true, &lane->features, e);
        else
            rc = cov_annotation_read(path, NULL, false, &lane->features, e);
        if (!rc && is_genes)
            rc = check_types(lane, genes, e);
    }
    free(types);
    return rc;
}

/* Fails before the tracks are read if the genes have no such sequence. With --rename, its name in
 * the annotation is not known yet. */
static int check_contig(const struct region_job *j, const struct lane *lane,
                        const struct cov_profile_request *request, struct cov_err *e)
{
    const struct cov_names *names = lane->features.contigs;
    struct cov_listing there = {0};
    for (size_t i = 0; i < cov_names_count(names); i++) {
        int64_t beg, end;
        if (cov_range_means(&j->range, cov_names_get(names, i, NULL), &beg, &end))
            return COV_OK;
        cov_listing_add(&there, cov_names_get(names, i, NULL));
    }
    if (lane->drawn.is_flat || request->source.rename_path)
        return COV_OK;
    const struct cov_range *r = &j->range;
    return cov_fail(e, COV_EINPUT, "%s: no features on %.*s; its sequences are: %s%s",
                    lane->features.path, (int)(r->n_name ? r->n_name : strlen(r->text)),
                    r->n_name ? r->name : r->text, there.text, cov_listing_more(&there));
}

static int check_ends(const struct region_job *j, const struct cov_annotation *a, size_t contig,
                      struct cov_err *e)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct cov_feature *f = &a->items[i];
        if (f->contig == contig && j->length > 0 && f->end > j->length)
            return cov_fail(e, COV_EINPUT,
                            "%s:%" PRIu32 ": the feature ends at %" PRId64
                            ", but %s has only %" PRId64 " bases in %s",
                            a->path, f->line, f->end, j->contig, j->length, j->first_input);
    }
    return COV_OK;
}

/* Chooses the features of the region. A file of peaks may have none on a contig. */
static int fill_lane(const struct region_job *j, struct lane *lane, struct cov_err *e)
{
    static const struct cov_lane_scale scale = {COV_PLOT_BINS, COV_PLOT_LETTER};
    const struct cov_annotation *a = &lane->features;
    const int64_t region[] = {j->range.beg, j->range.end};
    struct cov_listing there = {0};
    size_t contig;
    lane->drawn.heading = lane->name;
    for (size_t i = 0; i < cov_names_count(a->contigs); i++)
        cov_listing_add(&there, cov_names_get(a->contigs, i, NULL));
    const bool found = cov_names_find(a->contigs, j->contig, strlen(j->contig), &contig);
    if (!found && !lane->drawn.is_flat)
        return cov_fail(e, COV_EINPUT, "%s: no features on %s; its sequences are: %s%s", a->path,
                        j->contig, there.text, cov_listing_more(&there));
    if (!found) {
        cov_warn("%s: no peaks on %s; its sequences are: %s%s", a->path, j->contig, there.text,
                 cov_listing_more(&there));
        contig = SIZE_MAX;
    }
    int rc = check_ends(j, a, contig, e);
    if (!rc)
        rc = cov_feature_lane_fill(&lane->drawn, a, contig, region, &scale, e);
    if (!rc && lane->drawn.n_left_out > 0)
        cov_warn("%s: %zu of the region's features do not fit into the picture", a->path,
                 lane->drawn.n_left_out);
    return rc;
}

/* ---------------------------------------------------------------- outputs */

static void print_table(const void *arg, FILE *f)
{
    const struct region_job *j = arg;
    const struct cov_bins *b = &j->bins;
    (void)fputs("contig\tstart\tend", f);
    for (size_t k = 0; k < j->n; k++) {
        (void)fputc('\t', f);
        cov_table_put_text(j->tracks[k].name, f);
    }
    (void)fputc('\n', f);
    for (size_t i = 0; i < b->n; i++) {
        const int64_t beg = j->range.beg + (int64_t)i * b->width, end = beg + b->width;
        cov_table_put_text(j->contig, f);
        (void)fprintf(f, "\t%" PRId64 "\t%" PRId64, beg, end < j->range.end ? end : j->range.end);
        for (size_t k = 0; k < j->n; k++)
            cov_table_put_number(j->tracks[k].means[i], f);
        (void)fputc('\n', f);
    }
}

static int draw(const void *arg, const struct cov_picture *picture, struct cov_err *e)
{
    static const char *const kinds[] = {"predicted", "measured", "track"};
    const struct region_job *j = arg;
    struct cov_plot_row *rows = cov_calloc(j->n, sizeof *rows, e);
    struct cov_feature_lane *lanes = cov_calloc(j->n_lanes + 1, sizeof *lanes, e);
    struct cov_region_plot plot = {
        .rows = rows, .n_rows = j->n, .lanes = lanes, .n_lanes = j->n_lanes, .note = ""};
    double least = 0, most = 0;
    int rc = rows && lanes ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < j->n; k++) {
        const struct region_track *t = &j->tracks[k];
        rows[k] = (struct cov_plot_row){.heading = t->name, .bins = j->bins, .series = t->series};
        rows[k].bins.means = t->means;
        cov_plot_extend(&rows[k].bins, &least, &most);
        cov_plot_extend(&rows[k].bins, &rows[k].least, &rows[k].most);
        plot.series[t->series] = kinds[t->series];
    }
    for (size_t k = 0; !rc && k < j->n; k++) {
        if (!j->o.own_scales) {
            rows[k].least = least;
            rows[k].most = most;
        }
        if (rows[k].most == rows[k].least)
            rows[k].most = 1;
    }
    for (size_t k = 0; !rc && k < j->n_lanes; k++)
        lanes[k] = j->lanes[k].drawn;
    if (j->n > 1 && !j->o.own_scales)
        plot.note = "; all tracks are on one scale";
    if (!rc)
        rc = cov_region_plot_draw(&plot, picture, e);
    free(rows);
    free(lanes);
    return rc;
}

/* ---------------------------------------------------------------- statistics */

/* "region": {...} of --stats. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct region_job *j = arg;
    cov_json_begin_object(json, "region");
    cov_json_string(json, "contig", j->contig);
    cov_json_int(json, "start", j->range.beg);
    cov_json_int(json, "end", j->range.end);
    cov_json_int(json, "bin", j->bins.width);
    cov_json_begin_array(json, "tracks");
    for (size_t k = 0; k < j->n; k++) {
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "track", j->tracks[k].name);
        cov_json_double(json, "mean", j->tracks[k].mean);
        cov_json_double(json, "largest", j->tracks[k].largest);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
    cov_json_end_object(json);
}

static int tell(const void *arg, struct cov_stats *stats, struct cov_err *e)
{
    const struct region_job *j = arg;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < j->n; k++) {
        const struct region_track *t = &j->tracks[k];
        const struct cov_stats_figure figures[] = {
            {"mean", "Mean", "mean of the bins of the region", .decimals = 2, .value = t->mean},
            {"largest", "Largest", "largest mean of a bin of the region", .decimals = 2,
             .value = t->largest},
        };
        rc = cov_stats_add_figures(stats, t->name, figures, COV_COUNT(figures), e);
        cov_info("%s: mean %.6g, largest bin %.6g", t->name, t->mean, t->largest);
    }
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct region_job *j = arg;
    for (size_t k = 0; k < j->n; k++) {
        free(j->tracks[k].name);
        free(j->tracks[k].means);
    }
    for (size_t k = 0; k < j->n_lanes; k++) {
        cov_feature_lane_fini(&j->lanes[k].drawn);
        cov_annotation_fini(&j->lanes[k].features);
        free(j->lanes[k].name);
    }
    free(j->tracks);
    free(j->lanes);
    free(j->text);
    free(j->contig);
    free(j->first_input);
    free(j);
}

static int read_tracks(void *arg, const struct cov_profile_request *request, struct cov_err *e)
{
    struct region_job *j = arg;
    int rc = cov_range_parse(j->o.region, &j->range, e);
    if (!rc)
        rc = read_features(j, &request->features, e);
    if (!rc && j->n_lanes > 0)
        rc = check_contig(j, &j->lanes[0], request, e);
    if (!rc)
        rc = read_inputs(j, request, e);
    for (size_t k = 0; !rc && k < j->n_lanes; k++)
        rc = fill_lane(j, &j->lanes[k], e);
    return rc;
}

int cov_region_run(const struct cov_profile_request *request,
                   const struct cov_region_options *options, struct cov_err *e)
{
    static const struct cov_profile_steps steps = {.read = read_tracks,
                                                   .print_table = print_table,
                                                   .draw = draw,
                                                   .tell = tell,
                                                   .print_json = print_json,
                                                   .free_job = free_job};
    struct region_job *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    j->o = *options;
    return cov_profile_job_run(j, &steps, request, e);
}
