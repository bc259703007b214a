/* convert_track.h - cov2bigwig's work on tracks: bedGraph or bigWig to either.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CONVERT_TRACK_H
#define COV_JOB_CONVERT_TRACK_H

#include "common/base/bgz.h"
#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/base/stats.h"
#include "common/job/convert.h"

/* Converts the track `input`, or, not NULL, the bedGraph `in` that has been opened from it and not read
 * (owned, after a failure too). As cov_convert_run, but that values are floats, nothing is rounded,
 * contigs stand in the order of the file, and what has no value there has none in the output.
 * COV_EUSAGE for options about strands, data sets and genome files, and for bedGraph to bigWig without
 * lengths. COV_EINPUT names the place of an interval beyond the length of its contig. */
int cov_convert_track_run(const char *input, struct cov_bgz *in,
                          const struct cov_convert_options *options, unsigned n_threads,
                          struct cov_progress *progress, struct cov_stats *stats,
                          struct cov_err *e) COV_MUST_USE;

#endif
