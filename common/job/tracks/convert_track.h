/* convert_track.h - cov2bigwig's work on tracks: bedGraph and bigWig.
 *
 * For convert_source.c.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONVERT_TRACK_H
#define COV_JOB_TRACKS_CONVERT_TRACK_H

#include <stdbool.h>

#include "common/base/bgz.h"
#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/tracks/convert.h"
#include "common/track/sink.h"

struct cov_convert_track;

/* Opens the track `input`, or, not NULL, the bedGraph `in` that has been opened from it and not
 * read (owned, after a failure too). Borrows the options until close. COV_EUSAGE for options about
 * strands, data sets and genome files. */
int cov_convert_track_open(const char *input, struct cov_bgz *in,
                           const struct cov_convert_options *o, unsigned n_threads,
                           struct cov_convert_track **out, struct cov_err *e) COV_MUST_USE;
void cov_convert_track_close(struct cov_convert_track *j); /* NULL is accepted */

/* See convert_source.h. */
const char *cov_convert_track_name(const struct cov_convert_track *j);
bool cov_convert_track_has_lengths(const struct cov_convert_track *j);

/* As cov_convert_source_run. Values are floats, nothing is rounded, contigs stand in the order of
 * the file, and what has no value there gets none. COV_EINPUT names the place of an interval beyond
 * the length of its contig. */
int cov_convert_track_run(struct cov_convert_track *j, struct cov_track_sink *sink,
                          const char *what, struct cov_progress *progress, struct cov_stats *stats,
                          struct cov_err *e) COV_MUST_USE;

#endif
