/* profile_plot.h - draws profiles: curves with confidence bands, and maps of all features by
 * signal.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_PROFILE_PLOT_H
#define COV_JOB_PROFILE_PROFILE_PLOT_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/job/profile/profile_tracks.h"
#include "common/plot/gnuplot.h"

/* Needs stored bins, and finished tracks. `median`: what they were finished as. */
int cov_profile_plot_draw(const struct cov_profile_tracks *t, const char *title, bool median,
                          const struct cov_picture *picture, struct cov_err *e) COV_MUST_USE;

#endif
