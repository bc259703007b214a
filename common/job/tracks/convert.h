/* convert.h - the job of cov2bigwig: signal in HDF5, and tracks, to coverage tracks (Predmoter's
 * convert2coverage).
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONVERT_H
#define COV_JOB_TRACKS_CONVERT_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/tracks/track_files.h"
#include "common/job/tracks/track_source.h"

/* Strings are borrowed for the call. */
struct cov_convert_options {
    struct cov_source_options source; /* all but `only` */
    const char *output;               /* a file, with the format as its suffix; "-": bedGraph; a
                                       * folder; NULL: no tracks */
    bool force;
    const char *tmpdir; /* for temporary files of bigWig; NULL: the folder of the output */
    /* For a folder; errors for a file. */
    const char *basename; /* NULL: the input's stem */
    bool has_kind;
    enum cov_track_kind kind; /* if has_kind; otherwise BIGWIG */
    const char *plot_path;    /* a picture of plot_region; NULL: none */
    const char *plot_region;
};

/* Converts `input`: signal (HDF5 or a stream), or a track (see convert_track.h), told by content.
 * Per data set and contig: the mean of both strands (or one strand), rounded; smoothing, rounded;
 * times scale; less what is filtered. Float predictions are not rounded. Contigs stand in the order
 * of their (new) names as bytes. Outputs appear together when all are complete; after a failure
 * none of this run is left. Memory: chunks in flight, the window of the smoothing, and what the
 * formats need. Starts n_threads threads of its own, once the input is open. COV_EUSAGE: options
 * that contradict each other or do not fit the input. Fills in bases, chunks and stages of *stats;
 * `progress` and `stats` may be NULL. */
int cov_convert_run(const char *input, const struct cov_convert_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e) COV_MUST_USE;

#endif
