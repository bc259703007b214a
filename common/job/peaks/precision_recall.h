/* precision_recall.h - the job of `covpeaks curve`: how well the bases at or above each cutoff
 * agree with measured peaks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_PRECISION_RECALL_H
#define COV_JOB_PEAKS_PRECISION_RECALL_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/peaks/measured.h"
#include "common/plot/table_outputs.h"
#include "common/signal/track_source.h"

/* The table has about COV_CURVE_POINTS cutoffs of each window, if there are more. */
enum { COV_CURVE_MAX_WINDOWS = 16, COV_CURVE_POINTS = 1000 };

/* Borrowed for the call. */
struct cov_curve_options {
    struct cov_source_options source; /* except `only` and `factors` */
    const int64_t *windows;           /* [n_windows] of the moving mean; 1: none */
    size_t n_windows;
    struct cov_measured_options measured;
    struct cov_table_paths paths; /* no second file */
};

/* The graph of a run in a report. */
extern const struct cov_stats_plot cov_curve_lines;

/* Writes a row for each cutoff of each window: a base is positive if its value is at least the
 * cutoff. Bases without a value do not count. The area below a curve is the average precision, the
 * sum of (recall - recall at the next cutoff) * precision. Without measured peaks, recall is 0. Reads
 * the input once for each window. COV_EINPUT if options or measured
 * peaks do not fit the files. *stats gets "curves". */
int cov_curve_run(const char *input, const struct cov_curve_options *options, unsigned n_threads,
                  struct cov_progress *progress, struct cov_stats *stats,
                  struct cov_err *e) COV_MUST_USE;

#endif
