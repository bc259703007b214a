/* chart.h - charts of figures drawn by gnuplot: lines over a numeric x axis, or grouped bars.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_CHART_H
#define BENCHMARK_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "tools/benchmark/figure.h"

enum chart_kind { CHART_LINES, CHART_BARS };

/* For bars, x is the index of the group. An error bar shows low and high where they differ from y. */
struct chart_point {
    double x, y, low, high;
};

struct chart_series {
    char *name; /* Owned */
    struct chart_point *points;
    size_t n, cap;
    /* If has_line, y = slope x + offset is drawn dashed instead of a line through the points. */
    bool has_line;
    double slope, offset;
};

struct chart {
    /* Set by the caller; borrowed. */
    enum chart_kind kind;
    const char *file;          /* name without folder and suffix */
    const char *title, *x, *y; /* x and y: labels of the axes */
    bool log_x, log_y;
    double top, right; /* ends of the y and x axes; 0: automatic */

    struct chart_series *series;
    size_t n_series, cap_series;
    char **groups; /* names of the groups of bars */
    size_t n_groups, cap_groups;
};

struct charts {
    struct chart **items;
    size_t n, cap;
};

void charts_fini(struct charts *c);

/* Adds a copy of the chart `like`, whose texts must outlive the copy. *out stays valid until
 * charts_fini. */
int charts_add(struct charts *c, const struct chart *like, struct chart **out,
               struct cov_err *e) COV_MUST_USE;

/* Adds a point to the named series, which is created on first use. */
int chart_add(struct chart *c, const char *series, double x, double y,
              struct cov_err *e) COV_MUST_USE;
/* Adds a figure times `factor`; does nothing if f is NULL. */
int chart_add_figure(struct chart *c, const char *series, double x, const struct figure *f,
                     double factor, struct cov_err *e) COV_MUST_USE;
/* Adds a figure times `factor` as a bar of the named group. */
int chart_add_bar(struct chart *c, const char *series, const char *group, const struct figure *f,
                  double factor, struct cov_err *e) COV_MUST_USE;
/* Sets the line of the named series, if there is one. */
void chart_set_line(struct chart *c, const char *series, const struct line *line);

/* Draws the chart to the existing file `path` as SVG or PNG. `gnuplot` is the program's path. COV_EINPUT
 * if the chart has no points. */
int chart_draw(const struct chart *c, const char *gnuplot, const char *path, bool is_svg,
               const char *tmpdir, struct cov_err *e) COV_MUST_USE;

#endif
