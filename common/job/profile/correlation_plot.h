/* correlation_plot.h - draws correlations as a map of colours, in the order of a clustering, whose
 * tree is above the map.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_CORRELATION_PLOT_H
#define COV_JOB_PROFILE_CORRELATION_PLOT_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/plot/gnuplot.h"

/* r[n, n], n > 1: symmetric; NaN is drawn as NA and clustered like 0. */
int cov_correlation_plot_draw(const char *title, const double *r, const char *const *names,
                              size_t n, const struct cov_picture *picture,
                              struct cov_err *e) COV_MUST_USE;

#endif
