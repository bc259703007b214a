/* correlate_tracks.h - the job of `covprofile correlate`: how similar tracks are.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_CORRELATE_TRACKS_H
#define COV_JOB_PROFILE_CORRELATE_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/job/profile/profile_tracks.h"

/* Borrowed for the call. */
struct cov_correlate_options {
    int64_t bin; /* correlate the means of bins of this width */
    /* Or, unless the path is NULL, of windows around these features, each of a single bin. */
    struct cov_profile_features features;
    struct cov_profile_layout layout;
    bool spearman; /* correlate ranks; ties have the mean of their ranks */
};

/* Writes a square table, and draws it clustered. Bins and features count where all tracks have a
 * value. COV_EINPUT for options that do not fit the files, for a single track, for files
 * that do not fit each other. *stats gets "correlations". */
int cov_correlate_run(const struct cov_profile_request *request,
                      const struct cov_correlate_options *options, struct cov_err *e) COV_MUST_USE;

/* For the MultiQC report of --stats. */
extern const struct cov_stats_plot cov_correlate_cells;

#endif
