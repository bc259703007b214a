/* region_tracks.h - the job of `covprofile region`: tracks side by side in one region, with genes
 * and peaks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_REGION_TRACKS_H
#define COV_JOB_PROFILE_REGION_TRACKS_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/cli/opt.h"
#include "common/job/profile/profile_inputs.h"

/* Borrowed for the call. */
struct cov_region_options {
    const char *region;                /* see cov_range_parse */
    struct cov_strings labels;         /* of all tracks; n = 0: the names of their files */
    struct cov_profile_features genes; /* path NULL: none */
    struct cov_strings peaks;          /* BED files */
    bool own_scales;                   /* each track has its own y axis; else all have the same */
};

/* Writes a row for each bin of the region, and no second file. COV_EINPUT if an input lacks the
 * region, the annotation lacks its contig, or files have different lengths for it.
 * *stats gets "region". */
int cov_region_run(const struct cov_profile_request *request,
                   const struct cov_region_options *options, struct cov_err *e) COV_MUST_USE;

#endif
