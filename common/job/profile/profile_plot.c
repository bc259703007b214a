/* profile_plot.c - see profile_plot.h.
 *
 * A map has one row for each of many features that follow one another by signal, their mean over
 * all tracks, so that the rows of all maps are the same features.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_plot.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/plot/chart.h"

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

struct plot {
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

static int rank(struct plot *p, struct cov_err *e)
{
    const struct cov_profile_tracks *t = p->t;
    const size_t n = t->windows->features->n;
    p->order = cov_malloc(n, sizeof *p->order, e);
    if (!p->order)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        size_t n_tracks = 0;
        for (size_t k = 0; k < t->n; k++)
            if (!isnan(t->items[k]->means[i])) {
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

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds the value at which the colours end. */
static int find_top(const double *values, size_t n, double *top, struct cov_err *e)
{
    double *sorted = cov_malloc(n, sizeof *sorted, e);
    size_t n_sorted = 0;
    if (!sorted)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            sorted[n_sorted++] = values[i];
    qsort(sorted, n_sorted, sizeof *sorted, by_value);
    *top = n_sorted > 0 ? sorted[(size_t)((double)(n_sorted - 1) * SHOWN)] : 0;
    if (n_sorted > 0 && *top <= 0)
        *top = sorted[n_sorted - 1];
    if (*top <= 0)
        *top = 1;
    free(sorted);
    return COV_OK;
}

static int sum_map(const struct plot *p, size_t track, struct map *m, double *bins,
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

static int make_map(struct plot *p, size_t track, struct cov_err *e)
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
        rc = find_top(m->values, n, &shown->top, e);
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

static int draw(const struct plot *p, const char *title, bool median,
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

int cov_profile_plot_draw(const struct cov_profile_tracks *t, const char *title, bool median,
                          const struct cov_picture *picture, struct cov_err *e)
{
    struct plot plot = {.t = t};
    int rc = rank(&plot, e);
    const bool has_maps = plot.rows > 1 && plot.columns > 1; /* a map needs two of both */
    for (size_t k = 0; !rc && has_maps && k < t->n && k < MOST_MAPS; k++)
        rc = make_map(&plot, k, e);
    if (!rc)
        rc = draw(&plot, title, median, picture, e);
    for (size_t k = 0; k < plot.n_maps; k++) {
        free(plot.maps[k].values);
        free(plot.maps[k].n);
    }
    free(plot.order);
    return rc;
}
