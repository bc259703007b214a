/* gene_profile.c - see profile_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/sort.h"
#include "common/base/text.h"
#include "common/cli/stats_file.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "common/job/profile/profile_tracks.h"
#include "common/plot/chart.h"
#include "common/plot/gnuplot.h"

/* Lives until --stats has been printed. */
struct gene_profile_job {
    struct cov_gene_profile_options o;
    struct cov_annotation *features;     /* [n]. Owned */
    struct cov_windows *windows;         /* [n]: of these. Owned */
    size_t n, n_annotations, n_features; /* the last two: the same file counts once */
    struct cov_profile_tracks tracks;
    char *stem;
    unsigned n_threads;
};

/* ---------------------------------------------------------------- the picture */

/* A map has one row for each of many features that follow one another by signal, their mean over all
 * tracks of the annotation, so that the rows of their maps are the same features. */

/* A gnuplot script has the maps as text, and an SVG picture has a rectangle for each of their
 * values. */
enum { MAP_ROWS = 200, MAP_COLUMNS = 160, MOST_MAPS = 8 };

/* The share of a map's values that its colours can tell apart; the highest would make all others
 * pale. */
static const double SHOWN = 0.98;

struct ranked {
    double signal;
    uint32_t feature;
};

/* Sums and numbers of the values of a map. */
struct map {
    double *values; /* [rows][columns]. Owned */
    uint32_t *n;    /* Owned */
};

struct profile_plot {
    const struct cov_profile_tracks *t;
    struct ranked *order; /* [n_ranked], by descending signal. Owned */
    size_t n_ranked, rows, columns;
    struct map maps[MOST_MAPS];
    struct cov_chart_map shown[MOST_MAPS];
    size_t n_maps;
};

/* ---------------------------------------------------------------- the order of features */

static int by_signal(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->signal != y->signal)
        return x->signal > y->signal ? -1 : 1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

static bool has_same_features(const struct cov_profile_track *a, const struct cov_profile_track *b)
{
    return cov_path_same_file(a->windows->features->path, b->windows->features->path);
}

/* Ranks the features of a track. */
static int rank(struct profile_plot *p, const struct cov_profile_track *track, struct cov_err *e)
{
    const struct cov_profile_tracks *t = p->t;
    const size_t n = track->windows->features->n;
    free(p->order);
    p->n_ranked = 0;
    p->order = cov_malloc(n, sizeof *p->order, e);
    if (!p->order)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        size_t n_tracks = 0;
        for (size_t k = 0; k < t->n; k++)
            if (has_same_features(t->items[k], track) && !isnan(t->items[k]->means[i])) {
                sum += t->items[k]->means[i];
                n_tracks++;
            }
        if (n_tracks > 0)
            p->order[p->n_ranked++] = (struct ranked){sum / (double)n_tracks, (uint32_t)i};
    }
    qsort(p->order, p->n_ranked, sizeof *p->order, by_signal);
    p->rows = p->n_ranked < MAP_ROWS ? p->n_ranked : MAP_ROWS;
    p->columns = t->n_bins < MAP_COLUMNS ? t->n_bins : MAP_COLUMNS;
    return COV_OK;
}

/* ---------------------------------------------------------------- maps */

/* Finds the value at which the colours end. */
static int find_colour_top(const double *values, size_t n, double *top, struct cov_err *e)
{
    double *sorted = cov_malloc(n, sizeof *sorted, e);
    size_t n_sorted = 0;
    if (!sorted)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            sorted[n_sorted++] = values[i];
    cov_sort_doubles(sorted, n_sorted);
    *top = n_sorted > 0 ? sorted[(size_t)((double)(n_sorted - 1) * SHOWN)] : 0;
    if (n_sorted > 0 && *top <= 0)
        *top = sorted[n_sorted - 1];
    if (*top <= 0)
        *top = 1;
    free(sorted);
    return COV_OK;
}

static int sum_map(const struct profile_plot *p, size_t track, struct map *m, double *bins,
                   struct cov_err *e)
{
    const struct cov_profile_tracks *t = p->t;
    for (size_t i = 0; i < p->n_ranked; i++) {
        const size_t row = i * p->rows / p->n_ranked;
        int rc = cov_profile_tracks_bins(t, track, p->order[i].feature, 0, t->n_bins, bins, e);
        if (rc)
            return rc;
        for (size_t k = 0; k < t->n_bins; k++) {
            const size_t at = row * p->columns + k * p->columns / t->n_bins;
            if (isnan(bins[k]))
                continue;
            m->values[at] += bins[k];
            m->n[at]++;
        }
    }
    return COV_OK;
}

static int make_map(struct profile_plot *p, size_t track, struct cov_err *e)
{
    const struct cov_profile_layout *l = &p->t->windows->layout;
    const size_t n = p->rows * p->columns;
    struct map *m = &p->maps[p->n_maps];
    struct cov_chart_map *shown = &p->shown[p->n_maps++];
    double *bins = cov_malloc(p->t->n_bins, sizeof *bins, e);
    m->values = cov_calloc(n, sizeof *m->values, e);
    m->n = cov_calloc(n, sizeof *m->n, e);
    int rc = bins && m->values && m->n ? sum_map(p, track, m, bins, e) : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        m->values[i] = m->n[i] ? m->values[i] / m->n[i] : (double)NAN;
    *shown = (struct cov_chart_map){.title = p->t->items[track]->name,
                                    .values = m->values,
                                    .rows = p->rows,
                                    .columns = p->columns,
                                    .beg = -(double)l->before,
                                    .end = (double)(l->body + l->after)};
    if (!rc)
        rc = find_colour_top(m->values, n, &shown->top, e);
    free(bins);
    return rc;
}

/* ---------------------------------------------------------------- the chart */

static int add_curves(const struct cov_profile_tracks *t, struct cov_chart *chart,
                      struct cov_err *e)
{
    const struct cov_profile_layout *l = &t->windows->layout;
    int rc = COV_OK;
    for (size_t k = 0; k < t->n; k++)
        for (size_t i = 0; !rc && i < t->n_bins; i++) {
            const struct cov_profile_track *track = t->items[k];
            const struct cov_chart_point point = {(double)((int64_t)i * l->bin - l->before) +
                                                      (double)(l->bin - 1) / 2,
                                                  track->middle[i], track->low[i], track->high[i]};
            rc = cov_chart_add_point(chart, track->name, &point, e);
        }
    return rc;
}

static int draw_chart(const struct profile_plot *p, const char *title, bool median,
                      const struct cov_picture *picture, struct cov_err *e)
{
    static const char *const positions[] = {
        "position from the start of the feature (bp)", "position from the end of the feature (bp)",
        "position from the middle of the feature (bp)", "position (bp); the feature is scaled"};
    const struct cov_profile_layout *l = &p->t->windows->layout;
    struct cov_charts charts = {0};
    struct cov_chart *chart;
    const struct cov_chart like = {.kind = COV_CHART_LINES,
                                   .file = "profile",
                                   .title = title,
                                   .x = positions[l->anchor],
                                   .y = median ? "median and 95 % confidence interval"
                                               : "mean and 95 % confidence interval",
                                   .no_points = true,
                                   .bands = true,
                                   .left = -(double)l->before,
                                   .right = (double)(l->body + l->after),
                                   .maps = p->shown,
                                   .n_maps = p->n_maps};
    int rc = cov_charts_add(&charts, &like, &chart, e);
    if (!rc)
        rc = add_curves(p->t, chart, e);
    if (!rc)
        rc = cov_chart_draw_picture(chart, picture, e);
    cov_charts_fini(&charts);
    return rc;
}

static int draw_picture(const struct cov_profile_tracks *t, const char *title, bool median,
                        const struct cov_picture *picture, struct cov_err *e)
{
    struct profile_plot plot = {.t = t};
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < t->n && k < MOST_MAPS; k++) {
        if (k == 0 || !has_same_features(t->items[k], t->items[k - 1]))
            rc = rank(&plot, t->items[k], e);
        if (!rc && plot.rows > 1 && plot.columns > 1) /* a map needs two of both */
            rc = make_map(&plot, k, e);
    }
    if (!rc)
        rc = draw_chart(&plot, title, median, picture, e);
    for (size_t k = 0; k < plot.n_maps; k++) {
        free(plot.maps[k].values);
        free(plot.maps[k].n);
    }
    free(plot.order);
    return rc;
}

/* ---------------------------------------------------------------- outputs */

static void print_table(const void *arg, FILE *f)
{
    const struct gene_profile_job *j = arg;
    const struct cov_profile_tracks *t = &j->tracks;
    const struct cov_profile_layout *l = &j->windows->layout;
    (void)fputs("position", f);
    for (size_t k = 0; k < t->n; k++)
        (void)fprintf(f, "\t%s", t->items[k]->name);
    (void)fputc('\n', f);
    for (size_t i = 0; i < t->n_bins; i++) {
        (void)fprintf(f, "%" PRId64, (int64_t)i * l->bin - l->before);
        for (size_t k = 0; k < t->n; k++) {
            char text[COV_DOUBLE_TEXT];
            const double x = t->items[k]->middle[i];
            (void)fprintf(f, "\t%s", isnan(x) ? "NA" : cov_format_double(x, text));
        }
        (void)fputc('\n', f);
    }
}

static int write_matrix(const void *arg, const struct cov_outfile *out, struct cov_err *e)
{
    const struct gene_profile_job *j = arg;
    return cov_profile_matrix_write(&j->tracks, out->tmp, j->n_threads, e);
}

static int draw(const void *arg, const struct cov_picture *picture, struct cov_err *e)
{
    const struct gene_profile_job *j = arg;
    const size_t n = j->n_features;
    char *title = j->n_annotations == 1
                      ? cov_strfmt(e, "%zu feature%s of %s", n, cov_text_s((int64_t)n), j->stem)
                      : cov_strfmt(e, "%zu features of %zu annotations", n, j->n_annotations);
    int rc = title ? draw_picture(&j->tracks, title, j->o.median, picture, e) : COV_ENOMEM;
    free(title);
    return rc;
}

/* ---------------------------------------------------------------- statistics */

/* Returns the bin with the largest value. */
static size_t find_top(const struct cov_profile_track *track)
{
    size_t top = 0;
    for (size_t i = 0; i < track->all->n_bins; i++)
        if (isnan(track->middle[top]) || track->middle[i] > track->middle[top])
            top = i;
    return top;
}

static int64_t position_of(const struct gene_profile_job *j, size_t bin)
{
    return (int64_t)bin * j->windows->layout.bin - j->windows->layout.before;
}

/* Returns ENCODE's TSS enrichment: the largest mean over the features in bins of 10 bases within 2000 of
 * the TSS, divided by the mean of the 100 bases at both ends. NaN if the layout lacks these bins, if one at
 * the ends has no values, or if their mean is not above 0. */
static double tss_enrichment(const struct gene_profile_job *j, const struct cov_profile_track *t)
{
    enum { N = 2 * COV_TSSE_SIDE / COV_TSSE_BIN, EDGE = 100 / COV_TSSE_BIN };
    const struct cov_profile_layout *l = &j->windows->layout;
    double noise = 0, top = 0;
    if (l->anchor != COV_ANCHOR_TSS || l->bin != COV_TSSE_BIN || l->before < COV_TSSE_SIDE ||
        l->after < COV_TSSE_SIDE)
        return (double)NAN;
    const size_t first = (size_t)((l->before - COV_TSSE_SIDE) / COV_TSSE_BIN);
    for (size_t i = 0; i < N; i++) {
        const double mean = t->sum[first + i] / t->n[first + i];
        top = fmax(top, mean);
        noise += i < EDGE || i >= N - EDGE ? mean / (2 * EDGE) : 0;
    }
    return noise > 0 ? top / noise : (double)NAN;
}

/* "profiles": [...] of --stats. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct gene_profile_job *j = arg;
    cov_json_int(json, "features", (int64_t)j->n_features);
    cov_json_begin_array(json, "profiles");
    for (size_t k = 0; k < j->tracks.n; k++) {
        const struct cov_profile_track *track = j->tracks.items[k];
        const size_t top = find_top(track);
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "track", track->name);
        cov_json_int(json, "features", (int64_t)track->n_features);
        cov_json_double(json, "largest", track->middle[top]);
        cov_json_int(json, "position", position_of(j, top));
        cov_json_double(json, "tss_enrichment", tss_enrichment(j, track));
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
}

/* The lines of a MultiQC report. */
static void put_lines(const void *arg, const char *sample, struct cov_json *json)
{
    const struct gene_profile_job *j = arg;
    cov_json_begin_object(json, "data");
    for (size_t k = 0; k < j->tracks.n; k++) {
        const struct cov_profile_track *track = j->tracks.items[k];
        char row[COV_MULTIQC_NAME_BYTES];
        cov_multiqc_row(sample, track->name, row);
        cov_json_begin_array(json, row);
        for (size_t i = 0; i < j->tracks.n_bins; i++) {
            if (isnan(track->middle[i]))
                continue;
            cov_json_begin_array(json, NULL);
            cov_json_int(json, NULL, position_of(j, i));
            cov_json_double(json, NULL, track->middle[i]);
            cov_json_end_array(json);
        }
        cov_json_end_array(json);
    }
    cov_json_end_object(json);
}

const struct cov_stats_plot cov_gene_profile_lines = {
    .type = COV_STATS_LINES,
    .name = "profile",
    .section = "Signal around genes",
    .description = "Mean or median of the tracks around the features of the annotation.",
    .x_axis = "Position (bp)",
    .axis = "Signal",
    .put_data = put_lines,
};

static int tell(const void *arg, struct cov_stats *stats, struct cov_err *e)
{
    const struct gene_profile_job *j = arg;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < j->tracks.n; k++) {
        const struct cov_profile_track *track = j->tracks.items[k];
        const size_t top = find_top(track);
        const double enrichment = tss_enrichment(j, track);
        const struct cov_stats_figure figures[] = {
            {"features", "Features", "features with a value near them",
             .value = (double)track->n_features},
            {"largest", "Largest", "largest value of the profile", .decimals = 2,
             .value = track->middle[top]},
            {"position", "Position", "position of the largest value", .suffix = " bp",
             .value = (double)position_of(j, top)},
            {"tss_enrichment", "TSS enrichment", "ENCODE's TSS enrichment", .decimals = 2,
             .value = enrichment},
        };
        rc = cov_stats_add_figures(stats, track->name, figures, COV_COUNT(figures), e);
        cov_info("%s: %zu feature%s, largest value %.6g at %" PRId64, track->name,
                 track->n_features, cov_text_s((int64_t)track->n_features), track->middle[top],
                 position_of(j, top));
        if (!isnan(enrichment))
            cov_info("%s: TSS enrichment %.6g", track->name, enrichment);
        else if (j->o.tsse)
            cov_warn(
                "%s: no TSS enrichment: the mean signal 1900 to 2000 bases from the TSS is not "
                "above 0, or has no value (--fill-gaps counts these as 0)",
                track->name);
    }
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct gene_profile_job *j = arg;
    cov_profile_tracks_fini(&j->tracks);
    for (size_t i = 0; j->windows && i < j->n; i++) {
        cov_windows_fini(&j->windows[i]);
        cov_annotation_fini(&j->features[i]);
    }
    free(j->windows);
    free(j->features);
    free(j->stem);
    free(j);
}

static int read_annotations(struct gene_profile_job *j, const struct cov_profile_request *request,
                            struct cov_err *e)
{
    const struct cov_strings *paths = &j->o.annotations;
    struct cov_profile_features how = request->features;
    j->stem = cov_path_stem(paths->items[0], e);
    j->features = cov_calloc(paths->n, sizeof *j->features, e);
    j->windows = cov_calloc(paths->n, sizeof *j->windows, e);
    if (!j->stem || !j->features || !j->windows)
        return COV_ENOMEM;
    j->n = paths->n;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < j->n; i++) {
        how.path = paths->items[i];
        rc = cov_profile_features_read(&how, &j->features[i], e);
        if (!rc)
            rc = cov_windows_init(&j->windows[i], &j->features[i], &j->o.layout, e);
        size_t k = 0;
        while (k < i && !cov_path_same_file(paths->items[k], how.path))
            k++;
        j->n_annotations += k == i;
        j->n_features += k == i ? j->features[i].n : 0;
    }
    return rc;
}

static int read_tracks(void *arg, const struct cov_profile_request *request, struct cov_err *e)
{
    struct gene_profile_job *j = arg;
    const struct cov_table_paths *paths = &request->paths;
    const bool stores = j->o.median || paths->second || paths->plot;
    const double beg = cov_clock();
    j->n_threads = request->n_threads;
    int rc = read_annotations(j, request, e);
    cov_stats_add_stage(request->stats, "annotation", cov_clock() - beg);
    if (!rc)
        rc = cov_profile_tracks_init(&j->tracks, j->windows, j->n, stores ? paths : NULL, e);
    return rc ? rc : cov_profile_tracks_read(&j->tracks, request, e);
}

static int measure(void *arg, struct cov_err *e)
{
    struct gene_profile_job *j = arg;
    return cov_profile_tracks_finish(&j->tracks, j->o.median, e);
}

int cov_gene_profile_run(const struct cov_profile_request *request,
                         const struct cov_gene_profile_options *options, struct cov_err *e)
{
    static const struct cov_profile_steps steps = {.read = read_tracks,
                                                   .measure = measure,
                                                   .print_table = print_table,
                                                   .write_second = write_matrix,
                                                   .draw = draw,
                                                   .tell = tell,
                                                   .print_json = print_json,
                                                   .free_job = free_job};
    struct gene_profile_job *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    j->o = *options;
    return cov_profile_job_run(j, &steps, request, e);
}
