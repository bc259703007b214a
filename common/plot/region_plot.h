/* region_plot.h - a picture of a region, drawn by gnuplot: rows of curves or letters, and below
 * them lanes of features.
 * SPDX-License-Identifier: MIT */
#ifndef COV_PLOT_REGION_PLOT_H
#define COV_PLOT_REGION_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/plot/feature_lane.h"
#include "common/plot/gnuplot.h"
#include "common/track/bins.h"

enum {
    COV_PLOT_BINS = 960, /* maximum points of a curve; one pixel each */
    COV_PLOT_LETTER = 7, /* width of a letter of a feature's name */
    COV_PLOT_SERIES = 3, /* of the legend */
    COV_PLOT_MAX_ROWS = 200
};

/* A filled curve, or letters of the height of their values. */
struct cov_plot_row {
    const char *heading; /* above the row; NULL: none, because the picture is_wrapped */
    struct cov_bins bins;
    const char
        *letters;       /* [bins.n], one for each base, of which A, C, G and T are drawn, those with
                          * negative values upside down; NULL: a curve */
    size_t series;      /* colour of a curve */
    double least, most; /* ends of the y axis; least <= 0 <= most, and not the same */
};

/* Everything is borrowed. */
struct cov_region_plot {
    const struct cov_plot_row
        *rows; /* [n_rows], at least one; all of the same region, or its parts */
    size_t n_rows;
    bool is_wrapped; /* rows are consecutive parts of the region; none is longer than the first */
    const char *series[COV_PLOT_SERIES]; /* names for the legend, which is left out if there is
                                          * only one; NULL: not used */
    const char *note;                    /* ends the line below the title; may be "" */
    const struct cov_feature_lane *lanes;
    size_t n_lanes;
};

/* Extends the range from *least to *most, which the caller sets to 0 first, by the values of *b. */
void cov_plot_extend(const struct cov_bins *b, double *least, double *most);

int cov_region_plot_draw(const struct cov_region_plot *plot, const struct cov_picture *picture,
                         struct cov_err *e) COV_MUST_USE;

#endif
