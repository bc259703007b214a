/* coverage_tracks.h - the job of `covprofile coverage`: how often tracks have each value.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_COVERAGE_TRACKS_H
#define COV_JOB_PROFILE_COVERAGE_TRACKS_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/profile/profile_outputs.h"
#include "common/job/source/track_source.h"

/* Borrowed for the call. */
struct cov_coverage_options {
    struct cov_source_options source; /* except `only` and `factors` */
    double step;                      /* the curves count values from i * step to (i + 1) * step */
    struct cov_profile_paths paths;
};

/* Writes a row for each track, and the curves. Memory is bounded by that of cov_value_counts for
 * each data set of an input. COV_EUSAGE for options that do not fit the files, COV_EINPUT for a
 * track without values. Warns if many bases have none. *stats gets "coverage". */
int cov_coverage_run(char *const *inputs, size_t n_inputs,
                     const struct cov_coverage_options *options, unsigned n_threads,
                     struct cov_progress *progress, struct cov_stats *stats,
                     struct cov_err *e) COV_MUST_USE;

#endif
