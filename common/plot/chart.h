/* chart.h - charts of figures drawn by gnuplot: lines over a numeric x axis, with maps of values
 * below them, or grouped bars.
 * SPDX-License-Identifier: MIT */
#ifndef COV_PLOT_CHART_H
#define COV_PLOT_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/plot/gnuplot.h"

enum cov_chart_kind { COV_CHART_LINES, COV_CHART_BARS };

/* For bars, x is the index of the group. An error bar shows low and high where they differ from
 * y. */
struct cov_chart_point {
    double x, y, low, high;
};

struct cov_chart_series {
    char *name; /* Owned */
    struct cov_chart_point *points;
    size_t n, cap;
    double level; /* with `levels`: the y of a dashed line, set by the caller; 0: none */
};

/* A map of values, drawn as colours from 0 to `top`, the first row above. NaN: white. */
struct cov_chart_map {
    const char *title;
    const double *values; /* [rows][columns]. Borrowed */
    size_t rows, columns;
    double beg, end; /* x at the left and right edge */
    double top;
};

struct cov_chart {
    /* Set by the caller; borrowed. */
    enum cov_chart_kind kind;
    const char *file;          /* name without directory and suffix */
    const char *title, *x, *y; /* x and y: labels of the axes */
    bool log_x, log_y;
    bool has_key;                     /* show the name of a single series, too */
    bool no_points;                   /* lines without their points */
    bool bands;                       /* low and high bound an area around a line; no error bars */
    double top;                       /* end of the y axis; 0: automatic */
    const char *levels;               /* lines: the name of the dashed lines; NULL: none */
    bool diagonal;                    /* draw y = x, dashed and without a name */
    double left, right;               /* ends of the x axis; the same: automatic */
    const struct cov_chart_map *maps; /* [n_maps]: below the lines, side by side */
    size_t n_maps;
    /* Another chart of lines, drawn below; both have `left`, `right` and `top`, and no maps. */
    const struct cov_chart *below;

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

/* Adds a copy of the chart `like`, whose texts must outlive the copy. *out stays valid until
 * cov_charts_fini. */
int cov_charts_add(struct cov_charts *c, const struct cov_chart *like, struct cov_chart **out,
                   struct cov_err *e) COV_MUST_USE;

/* Adds a point to the named series, which is created on first use. */
int cov_chart_add(struct cov_chart *c, const char *series, double x, double y,
                  struct cov_err *e) COV_MUST_USE;
/* Adds a point with an error bar. */
int cov_chart_add_point(struct cov_chart *c, const char *series,
                        const struct cov_chart_point *point, struct cov_err *e) COV_MUST_USE;
/* Adds a bar to the named group, which is created on first use; ignores point->x. */
int cov_chart_add_bar(struct cov_chart *c, const char *series, const char *group,
                      const struct cov_chart_point *point, struct cov_err *e) COV_MUST_USE;

/* Draws the chart to the existing file `path` as SVG or PNG. `gnuplot` is the program's path.
 * Temporary files are in `tmpdir`. COV_EINPUT if the chart has no points. */
int cov_chart_draw(const struct cov_chart *c, const char *gnuplot, const char *path, bool is_svg,
                   const char *tmpdir, struct cov_err *e) COV_MUST_USE;
/* The same for a picture that has been begun. */
int cov_chart_draw_picture(const struct cov_chart *c, const struct cov_picture *p,
                           struct cov_err *e) COV_MUST_USE;

#endif
