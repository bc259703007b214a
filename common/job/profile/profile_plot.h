/* profile_plot.h - draws profiles: curves with confidence bands, and maps of all features by
 * signal.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_PROFILE_PLOT_H
#define COV_JOB_PROFILE_PROFILE_PLOT_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/job/profile/profile_tracks.h"

struct cov_profile_plot {
    const char *title;
    const char *gnuplot, *path,
        *tmpdir; /* the program, an existing file, and where its script goes */
    bool is_svg, median;
};

/* Needs stored bins, and finished tracks. */
int cov_profile_plot_draw(const struct cov_profile_tracks *t, const struct cov_profile_plot *p,
                          struct cov_err *e) COV_MUST_USE;

#endif
