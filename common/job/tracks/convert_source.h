/* convert_source.h - what cov2bigwig reads, as tracks: signal (HDF5 files, chunk streams), or a
 * track.
 *
 * Tracks go to sinks that the caller brings: files, or what compares.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONVERT_SOURCE_H
#define COV_JOB_TRACKS_CONVERT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/bgz.h"
#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/tracks/convert.h"
#include "common/track/sink.h"

struct cov_convert_source;

/* An input that has been looked at. All zero is an empty one. */
struct cov_convert_input {
    const char *path;   /* borrowed */
    struct cov_bgz *in; /* opened and not read from, where it can be read once only. Owned */
    bool is_track;
};

/* Looks at the input `path`, a pipe too: whether it is a track. Starts no threads. */
int cov_convert_input_look(const char *path, struct cov_convert_input *input,
                           struct cov_err *e) COV_MUST_USE;
void cov_convert_input_close(struct cov_convert_input *input);

/* Opens `input`, which is empty afterwards, and the lists of the options, which are borrowed
 * until close. Of the options those about outputs are not looked at; COV_EUSAGE for those that
 * do not fit the input. HDF5 forks: there must be no threads yet. `n_threads` > 1 decompress
 * BGZF. */
int cov_convert_source_open(struct cov_convert_input *input, const struct cov_convert_options *o,
                            unsigned n_threads, struct cov_convert_source **out,
                            struct cov_err *e) COV_MUST_USE;
void cov_convert_source_close(struct cov_convert_source *s); /* NULL is accepted */

/* What messages call it. */
const char *cov_convert_source_name(const struct cov_convert_source *s);

/* Whether it is a track: that has one data set, without a name. */
bool cov_convert_source_is_track(const struct cov_convert_source *s);

/* Whether the lengths of contigs are known; bedGraph without a list of them ends where its
 * intervals do. */
bool cov_convert_source_has_lengths(const struct cov_convert_source *s);

/* What its tracks are, for a legend: "predicted", "measured" or "track". */
const char *cov_convert_source_label(const struct cov_convert_source *s);

/* The data sets that are read. Names (NULL of a track) are borrowed until close. */
size_t cov_convert_source_n_datasets(const struct cov_convert_source *s);
const char *cov_convert_source_dataset(const struct cov_convert_source *s, size_t k);

/* Before the run: only the n data sets which[] of these are to be read, in this order. */
int cov_convert_source_keep(struct cov_convert_source *s, const size_t *which, size_t n,
                            struct cov_err *e) COV_MUST_USE;

/* The contigs, which the sinks are made with; NULL: they will be announced. Borrowed until
 * close. */
const struct cov_track_contigs *cov_convert_source_contigs(const struct cov_convert_source *s);

/* Reads all of it, once, into a sink for each data set, which are closed at the end; different
 * sinks are used by different threads. `what` is for the progress ("converting"). Fills in
 * bases, chunks and stages of *stats; `progress` and `stats` may be NULL. */
int cov_convert_source_run(struct cov_convert_source *s, struct cov_pool *pool,
                           struct cov_track_sink *const *sinks, const char *what,
                           struct cov_progress *progress, struct cov_stats *stats,
                           struct cov_err *e) COV_MUST_USE;

#endif
