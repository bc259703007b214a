/* scores.h - the values of a track, counted within and outside measured peaks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_SCORES_H
#define COV_JOB_PEAKS_SCORES_H

#include "common/base/err.h"
#include "common/job/peaks/measured.h"
#include "common/signal/track_source.h"
#include "common/track/measures/value_counts.h"
#include "common/track/sink.h"

struct cov_scores {
    struct cov_track_sink sink; /* first; receives the track */
    struct cov_value_counts counts;
    int64_t n_positive;            /* bases with a value that are in measured peaks */
    struct cov_measured *measured; /* NULL: none */
    struct cov_measured_cursor at; /* private */
};

/* `max`: see cov_value_counts_init. Borrows `source` and `measured` until cov_track_free of the
 * sink, which frees the rest. */
int cov_scores_init(struct cov_scores *s, const struct cov_track_source *source, size_t max,
                    struct cov_measured *measured, struct cov_err *e) COV_MUST_USE;

/* Call it after the sink was closed. COV_EINPUT if no base has a value, and with measured peaks, if
 * they are on other or shorter sequences, or where no base has a value. Unless the options choose
 * regions, warns about bases without a value, and about peaks on other sequences. */
int cov_scores_check(const struct cov_scores *s, const struct cov_track_source *source,
                     const struct cov_source_options *o, struct cov_err *e) COV_MUST_USE;

#endif
