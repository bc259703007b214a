/* convert.h - the job of cov2bigwig: converts signal in HDF5, and tracks, to coverage tracks (like
 * Predmoter's convert2coverage).
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONVERT_H
#define COV_JOB_TRACKS_CONVERT_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/tracks/track_files.h"
#include "common/signal/track_source.h"

/* A track is divided by the sum of the values of all its bases outside the blacklist, and
 * multiplied by 1000000 (CPM), or by the effective size of the genome: the mean depth is then 1
 * (RPGC). */
enum cov_normalization { COV_NORMALIZE_NONE, COV_NORMALIZE_CPM, COV_NORMALIZE_RPGC };

/* Strings are borrowed for the call. */
struct cov_convert_options {
    struct cov_source_options source; /* except `only` and `factors` */
    enum cov_normalization normalization;
    int64_t genome_size; /* for RPGC; else 0 */
    const char *output;  /* a file whose suffix selects the format; "-"; a directory */
    bool force;
    const char *tmpdir;       /* for temporary files of bigWig; NULL: the directory of the output */
    const char *basename;     /* for a directory; NULL: the input's stem */
    bool has_kind;            /* for a directory or "-" */
    enum cov_track_kind kind; /* if has_kind; otherwise BIGWIG, for "-" BEDGRAPH */
};

/* Converts `input`: signal (HDF5 or a stream) or a track, detected by content. For each dataset
 * and contig: averages both strands (or takes one) and rounds; smooths and rounds; normalizes and
 * scales; takes means of bins; filters. To normalize, reads the input twice; it must be a file.
 * Float predictions and tracks are not rounded. Contigs are sorted bytewise by their new names,
 * except those of streams and tracks. All outputs appear together when they are complete; a failed
 * run leaves none. Memory holds the chunks in flight, the smoothing window, and buffers of the
 * formats. Starts n_threads threads after the input is open. COV_EUSAGE for contradictory
 * options, COV_EINPUT for those that do not fit the input. Sets bases, chunks and stages of *stats; `progress` and
 * `stats` may be NULL. */
int cov_convert_run(const char *input, const struct cov_convert_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e) COV_MUST_USE;

#endif
