/* fingerprint_tracks.c - see profile_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/file/textfile.h"
#include "common/job/profile/profile_inputs.h"
#include "common/plot/chart.h"
#include "common/track/measures/lorenz.h"

/* The curves in the picture have this many points, at equal distances from 0 to 1. */
enum { N_POINTS = 1001 };

struct fingerprint_track {
    struct cov_lorenz_shape shape;
    double distance; /* from the control; NaN: none, also in `gain` */
    struct cov_lorenz_gain gain;
};

/* Lives until --stats has been printed. */
struct fingerprint_job {
    struct cov_fingerprint_options o; /* strings: until the tracks have been read */
    struct cov_track_bins bins;       /* means, then curves */
    struct fingerprint_track *tracks; /* [bins.n]. Owned */
};

/* ---------------------------------------------------------------- metrics */

static int read_bins(void *arg, const struct cov_profile_request *request, struct cov_err *e)
{
    struct fingerprint_job *j = arg;
    struct cov_profile_request with_control = *request;
    const size_t n = request->n_inputs;
    const char *control = j->o.control;
    const size_t n_controls = control ? 1 : 0;
    char *first = control ? cov_strdup(control, e) : NULL;
    char **all = cov_calloc(n + 1, sizeof(char *), e);
    int rc = all && (first || !control) ? COV_OK : COV_ENOMEM;
    if (!rc) {
        all[0] = first;
        memcpy(all + n_controls, request->inputs, n * sizeof(char *));
        with_control.inputs = all;
        with_control.n_inputs = n + n_controls;
        j->bins.width = j->o.bin;
        j->bins.first_is_track = control;
        rc = cov_track_bins_read(&j->bins, &with_control, e);
    }
    free(all);
    free(first);
    return rc;
}

static int check_signs(const struct cov_track_bins *b, size_t track, struct cov_err *e)
{
    for (size_t i = 0; i < b->n_rows; i++)
        if (b->means[track][i] < 0) {
            const struct cov_bin_place place = cov_track_bins_place(b, i);
            return cov_fail(e, COV_EINPUT,
                            "%s: %s:%" PRId64 ": the mean of %" PRId64
                            " bases is %g; a fingerprint has no values below 0",
                            b->files[track], place.name, place.beg + 1, b->width,
                            b->means[track][i]);
        }
    return COV_OK;
}

static int check_sum(const struct cov_track_bins *b, size_t track, struct cov_err *e)
{
    for (size_t i = 0; i < b->n_rows; i++)
        if (b->means[track][i] > 0)
            return COV_OK;
    return cov_fail(e, COV_EINPUT, "%s: all bins of %s are 0", b->files[track], b->names[track]);
}

/* Computes the metrics. Turns the means into curves. */
static int measure(void *arg, struct cov_err *e)
{
    struct fingerprint_job *j = arg;
    struct cov_track_bins *b = &j->bins;
    const bool has_control = j->o.control;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < b->n; k++)
        rc = check_signs(b, k, e);
    if (rc)
        return rc;
    b->n_rows = cov_rows_keep_whole(b->means, b->n, b->n_rows);
    if (b->n_rows < 2)
        return cov_rows_fail_few((const char *const *)b->names, b->n, b->n_rows, "bin",
                                 "a curve needs", e);
    j->tracks = cov_calloc(b->n, sizeof *j->tracks, e);
    if (!j->tracks)
        return COV_ENOMEM;
    for (size_t k = 0; !rc && k < b->n; k++)
        rc = check_sum(b, k, e);
    for (size_t k = 0; !rc && k < b->n; k++) {
        const double none = (double)NAN;
        j->tracks[k].distance = none;
        j->tracks[k].gain = (struct cov_lorenz_gain){none, none, none};
        if (has_control && k > 0)
            rc = cov_lorenz_gain(b->means[k], b->means[0], b->n_rows, &j->tracks[k].gain, e);
    }
    for (size_t k = 0; !rc && k < b->n; k++) {
        cov_lorenz_make(b->means[k], b->n_rows);
        cov_lorenz_measure(b->means[k], b->n_rows, &j->tracks[k].shape);
        if (has_control && k > 0)
            j->tracks[k].distance = cov_lorenz_distance(b->means[k], b->means[0], b->n_rows);
    }
    return rc;
}

/* ---------------------------------------------------------------- outputs */

static void print_table(const void *arg, FILE *f)
{
    const struct fingerprint_job *j = arg;
    (void)fprintf(f, "track\tauc\tx_intercept\telbow%s\n",
                  j->o.control ? "\tjs_distance\tenriched\tdifference\tdivergence" : "");
    for (size_t k = 0; k < j->bins.n; k++) {
        const struct fingerprint_track *t = &j->tracks[k];
        const double values[] = {t->shape.area,     t->shape.intercept, t->shape.elbow,
                                 t->distance,       t->gain.enriched,   t->gain.difference,
                                 t->gain.divergence};
        cov_table_put_text(j->bins.names[k], f);
        for (size_t i = 0; i < (j->o.control ? COV_COUNT(values) : 3); i++)
            cov_table_put_number(values[i], f);
        (void)fputc('\n', f);
    }
}

static double rank_of(size_t point)
{
    return (double)point / (N_POINTS - 1);
}

static int draw(const void *arg, const struct cov_picture *picture, struct cov_err *e)
{
    const struct fingerprint_job *j = arg;
    const struct cov_track_bins *b = &j->bins;
    struct cov_charts charts = {0};
    char title[64];
    (void)snprintf(title, sizeof title, "Fingerprint of bins of %" PRId64 " bases", b->width);
    struct cov_chart *chart;
    const struct cov_chart like = {.kind = COV_CHART_LINES,
                                   .file = "fingerprint",
                                   .title = title,
                                   .x = "share of the bins, from low to high signal",
                                   .y = "share of the signal",
                                   .top = 1,
                                   .right = 1,
                                   .diagonal = true,
                                   .has_key = true,
                                   .no_points = true};
    int rc = cov_charts_add(&charts, &like, &chart, e);
    for (size_t k = 0; !rc && k < b->n; k++)
        for (size_t i = 0; !rc && i < N_POINTS; i++)
            rc = cov_chart_add(chart, b->names[k], rank_of(i),
                               cov_lorenz_at(b->means[k], b->n_rows, rank_of(i)), e);
    if (!rc)
        rc = cov_chart_draw_picture(chart, picture, e);
    cov_charts_fini(&charts);
    return rc;
}

/* ---------------------------------------------------------------- statistics */

/* "fingerprints": [...] of --stats. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct fingerprint_job *j = arg;
    cov_json_int(json, "bins", (int64_t)j->bins.n_rows);
    cov_json_begin_array(json, "fingerprints");
    for (size_t k = 0; k < j->bins.n; k++) {
        const struct fingerprint_track *t = &j->tracks[k];
        cov_json_begin_object(json, NULL);
        cov_json_string(json, "track", j->bins.names[k]);
        cov_json_double(json, "auc", t->shape.area);
        cov_json_double(json, "x_intercept", t->shape.intercept);
        cov_json_double(json, "elbow", t->shape.elbow);
        cov_json_double(json, "js_distance", t->distance);
        cov_json_double(json, "enriched", t->gain.enriched);
        cov_json_double(json, "difference", t->gain.difference);
        cov_json_double(json, "divergence", t->gain.divergence);
        cov_json_end_object(json);
    }
    cov_json_end_array(json);
}

static int tell(const void *arg, struct cov_stats *stats, struct cov_err *e)
{
    const struct fingerprint_job *j = arg;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < j->bins.n; k++) {
        const struct fingerprint_track *t = &j->tracks[k];
        const struct cov_stats_figure figures[] = {
            {"auc", "AUC", "area below the fingerprint; 0.5 is even signal", .decimals = 3,
             .value = t->shape.area},
            {"x_intercept", "X-intercept", "share of the bins without signal", .decimals = 3,
             .value = t->shape.intercept},
            {"elbow", "Elbow", "share of the bins where the curve is farthest below even",
             .decimals = 3, .value = t->shape.elbow},
            {"js_distance", "JS distance", "Jensen-Shannon distance from the control",
             .decimals = 3, .value = t->distance},
            {"enriched", "Enriched", "share of the bins with more signal than the control",
             .decimals = 3, .is_hidden = true, .value = t->gain.enriched},
            {"divergence", "Divergence", "CHANCE divergence from the control", .decimals = 3,
             .is_hidden = true, .value = t->gain.divergence},
        };
        rc = cov_stats_add_figures(stats, j->bins.names[k], figures, COV_COUNT(figures), e);
        cov_info("%s: AUC %.4f, X-intercept %.4f, elbow %.4f", j->bins.names[k], t->shape.area,
                 t->shape.intercept, t->shape.elbow);
    }
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static void free_job(void *arg)
{
    struct fingerprint_job *j = arg;
    cov_track_bins_fini(&j->bins);
    free(j->tracks);
    free(j);
}

int cov_fingerprint_run(const struct cov_profile_request *request,
                        const struct cov_fingerprint_options *options, struct cov_err *e)
{
    static const struct cov_profile_steps steps = {.read = read_bins,
                                                   .measure = measure,
                                                   .print_table = print_table,
                                                   .draw = draw,
                                                   .tell = tell,
                                                   .print_json = print_json,
                                                   .free_job = free_job};
    struct fingerprint_job *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    j->o = *options;
    return cov_profile_job_run(j, &steps, request, e);
}
