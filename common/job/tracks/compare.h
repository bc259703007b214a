/* compare.h - cov2bigwig --compare: how well the tracks of an input agree with what was measured.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_COMPARE_H
#define COV_JOB_TRACKS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/tracks/convert.h"

/* Memory for counting pairs of values, all data sets and bin sizes together; see comparison.h. */
enum { COV_COMPARE_MEMORY = 256000000, COV_COMPARE_MAX_BIN_SIZES = 16 };

/* Borrowed for the call. */
struct cov_compare_options {
    /* How its tracks are made; `output`: of the table, NULL or "-" for `printed`. */
    struct cov_convert_options input;
    FILE *printed;
    const char *measured;     /* a bigWig, bedGraph, or a genome file or stream with coverage */
    const int64_t *bin_sizes; /* each > 0, all different */
    size_t n_bin_sizes;       /* 1 to COV_COMPARE_MAX_BIN_SIZES */
    bool has_threshold;
    double threshold; /* of peaks, if has_threshold */
};

/* Compares the tracks of `input`, made as cov_convert_run makes them, with those of the measured
 * file as it is: means over BAM files and of the strands (or the strand that the input's options
 * name), rounded. Data sets of two HDF5 files belong together by name; of a track and an HDF5
 * file there must be one. Writes the table of compare_report.h, and the picture of the input's
 * options, of both; *stats gets "comparison". Contigs that only one of them has are left out
 * with a warning. The measured tracks wait in temporary files in the folder of the options, or
 * else that of the output, or else the current one. COV_EUSAGE: options that contradict each
 * other or do not fit the files. COV_EINPUT: damaged files, contigs of other lengths (naming
 * both), nothing in common. */
int cov_compare_run(const char *input, const struct cov_compare_options *options,
                    unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e) COV_MUST_USE;

#endif
