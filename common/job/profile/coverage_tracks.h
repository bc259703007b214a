/* coverage_tracks.h - the job of `covprofile coverage`: how often tracks have each value.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_COVERAGE_TRACKS_H
#define COV_JOB_PROFILE_COVERAGE_TRACKS_H

#include "common/base/err.h"
#include "common/job/profile/profile_inputs.h"

/* Writes a row for each track, and as second file a table of the curves, which count values from
 * i * step to (i + 1) * step. Memory is bounded by that of cov_value_counts for
 * each dataset of an input. COV_EINPUT for options that do not fit the files, for a
 * track without values. Warns if many bases have none. *stats gets "coverage". */
int cov_coverage_run(const struct cov_profile_request *request, double step,
                     struct cov_err *e) COV_MUST_USE;

#endif
