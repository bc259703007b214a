/* convert_signal.h - tracks from signal: HDF5 files and chunk streams.
 *
 * For convert_source.c.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONVERT_SIGNAL_H
#define COV_JOB_TRACKS_CONVERT_SIGNAL_H

#include <stddef.h>

#include "common/base/bgz.h"
#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/tracks/convert.h"
#include "common/track/sink.h"

struct cov_convert_signal;

/* Opens `input`, or, not NULL, what has been opened from it and not read (owned, after a failure
 * too), and finds the data sets. HDF5 forks: there must be no threads yet. Borrows the options
 * until close. */
int cov_convert_signal_open(const char *input, struct cov_bgz *in,
                            const struct cov_convert_options *o, struct cov_convert_signal **out,
                            struct cov_err *e) COV_MUST_USE;
void cov_convert_signal_close(struct cov_convert_signal *j); /* NULL is accepted */

/* See convert_source.h. */
const char *cov_convert_signal_name(const struct cov_convert_signal *j);
size_t cov_convert_signal_n_datasets(const struct cov_convert_signal *j);
const char *cov_convert_signal_dataset(const struct cov_convert_signal *j, size_t k);
int cov_convert_signal_keep(struct cov_convert_signal *j, const size_t *which, size_t n,
                            struct cov_err *e) COV_MUST_USE;
const struct cov_track_contigs *cov_convert_signal_contigs(const struct cov_convert_signal *j);
int cov_convert_signal_run(struct cov_convert_signal *j, struct cov_pool *pool,
                           struct cov_track_sink *const *sinks, const char *what,
                           struct cov_progress *progress, struct cov_stats *stats,
                           struct cov_err *e) COV_MUST_USE;

#endif
