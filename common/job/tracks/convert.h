/* convert.h - the job of cov2bigwig: signal in HDF5, and tracks, to coverage tracks (Predmoter's
 * convert2coverage).
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONVERT_H
#define COV_JOB_TRACKS_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/tracks/track_files.h"
#include "common/seq/select.h"
#include "common/track/smoother.h"
#include "common/track/strands.h"

/* Texts are borrowed for the call. */
struct cov_convert_options {
    bool measured;      /* the input is a genome file: its measured coverage, else predictions */
    const char *output; /* a file whose suffix tells the format, "-" (bedGraph), or a folder; NULL:
                         * none */
    bool force;
    const char *tmpdir; /* for what bigWig puts aside; NULL: the folder of the output */
    /* For a folder; both are errors for a file. */
    const char *basename; /* NULL: the input's stem */
    bool has_kind;
    enum cov_track_kind kind; /* looked at only if has_kind; else BIGWIG */
    char *const *datasets;    /* in the order of the outputs; n_datasets = 0: all of the input */
    size_t n_datasets;
    enum cov_strand strand;
    struct cov_smoothing smoothing;
    bool unrounded;             /* smoothed values stay as they are, of whole numbers too */
    const char *blacklist_path; /* NULL: none */
    const char *rename_path;    /* NULL: none */
    const char *sizes_path;     /* lengths of the contigs of bedGraph; NULL: none */
    bool has_min;
    double min_value; /* values below are left out, if has_min */
    bool skip_zero;
    double scale;
    const char *plot_path; /* a picture of the region `plot_region`; NULL: none */
    const char *plot_region;
    const struct cov_range *only; /* the only sequence that is read, by its new name; NULL: all */
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
