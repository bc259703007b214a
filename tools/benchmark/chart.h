/* chart.h - charts of figures: lines over a number, or bars in groups, drawn by gnuplot.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_CHART_H
#define COV_BENCHMARK_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

enum cov_chart_kind { COV_CHART_LINES, COV_CHART_BARS };

/* Of bars, x is the number of the group. low and high are shown where they differ from y. */
struct cov_chart_point {
    double x, y, low, high;
};

struct cov_chart_series {
    char *name; /* Owned */
    struct cov_chart_point *points;
    size_t n, cap;
    /* y = slope x + offset, which is drawn dashed in the place of a line through the points. */
    bool has_line;
    double slope, offset;
};

struct cov_chart {
    enum cov_chart_kind kind;
    char *file;          /* name without folder and suffix. Owned, as are the other texts */
    char *title, *x, *y; /* x and y: what is on the axes */
    bool log_x;
    bool log_y;
    double top, right; /* of the axes of y and x; 0: by the values */
    struct cov_chart_series *series;
    size_t n_series, cap_series;
    char **groups; /* names of the groups of bars */
    size_t n_groups, cap_groups;
};

struct cov_charts {
    struct cov_chart **items;
    size_t n, cap;
};

void cov_charts_fini(struct cov_charts *c);

/* Adds an empty one, which stays where it is. */
int cov_charts_add(struct cov_charts *c, enum cov_chart_kind kind, const char *file,
                   const char *title, const char *x, const char *y, struct cov_chart **out,
                   struct cov_err *e) COV_MUST_USE;

/* Adds a point to the series of that name, which is made if it is new. */
int cov_chart_add(struct cov_chart *c, const char *series, double x, double y, double low,
                  double high, struct cov_err *e) COV_MUST_USE;
/* The line of the series of that name, if there is one. */
void cov_chart_set_line(struct cov_chart *c, const char *series, double slope, double offset);
/* The same as cov_chart_add of a bar in the group of that name. */
int cov_chart_add_bar(struct cov_chart *c, const char *series, const char *group, double y,
                      double low, double high, struct cov_err *e) COV_MUST_USE;

/* Draws it to the file `path`, which is there, as SVG or PNG. `gnuplot` is the program. A chart without
 * a point is COV_EINPUT. */
int cov_chart_draw(const struct cov_chart *c, const char *gnuplot, const char *path, bool is_svg,
                   const char *tmpdir, struct cov_err *e) COV_MUST_USE;

#endif
