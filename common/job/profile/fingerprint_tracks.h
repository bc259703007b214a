/* fingerprint_tracks.h - the job of `covprofile fingerprint`: how signal is spread over the genome.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_FINGERPRINT_TRACKS_H
#define COV_JOB_PROFILE_FINGERPRINT_TRACKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/job/profile/profile_inputs.h"

/* The curves have this many points, at equal distances from 0 to 1. */
enum { COV_FINGERPRINT_POINTS = 1001 };

/* Borrowed for the call. */
struct cov_fingerprint_options {
    int64_t bin;         /* the signal is that of bins of this width */
    const char *control; /* an input with one track, the first; NULL: none */
};

/* Writes a row for each track (lorenz.h), and as second file a table of the curves. Bins count where
 * all tracks have a value. COV_EINPUT for options that do not fit the files, for files that do not fit
 * each other, negative values, or a track without signal. *stats gets "fingerprints". */
int cov_fingerprint_run(const struct cov_profile_request *request,
                        const struct cov_fingerprint_options *options,
                        struct cov_err *e) COV_MUST_USE;

#endif
