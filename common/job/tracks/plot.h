/* plot.h - a picture of tracks in a region, drawn by gnuplot.
 *
 * A panel is a data set; in it each series (predicted, measured) is a filled curve of its own, one
 * below the other, on one scale.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_PLOT_H
#define COV_JOB_TRACKS_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/outfile.h"
#include "common/track/bins.h"

enum {
    COV_PLOT_SERIES = 2,
    COV_PLOT_BINS = 960, /* points of a curve for which there is room: pixels */
    COV_PLOT_MAX_PANELS = 100
};

struct cov_plot_panel {
    const char *name; /* of the data set; NULL: none is shown */
    struct cov_bins series[COV_PLOT_SERIES];
};

struct cov_plot;

/* Checks that `path` ends in .png or .svg (COV_EUSAGE), that there is a gnuplot, and that the file
 * can be made: COV_EEXIST if it is there, without `force`. `tmpdir` NULL: beside the picture. Free
 * with cov_plot_free. */
int cov_plot_new(const char *path, bool force, const char *tmpdir, struct cov_plot **out,
                 struct cov_err *e) COV_MUST_USE;

/* Draws the panels, whose series 0 .. n_series-1 are called names[]; all are of the region of the
 * first. The picture is complete when this returns 0. */
int cov_plot_draw(struct cov_plot *p, const struct cov_plot_panel *panels, size_t n_panels,
                  const char *const *names, size_t n_series, struct cov_err *e) COV_MUST_USE;

/* The picture's file, which gets its name when it is committed. */
struct cov_outfile *cov_plot_file(struct cov_plot *p);

/* What was not committed is removed. NULL is accepted. */
void cov_plot_free(struct cov_plot *p);

#endif
