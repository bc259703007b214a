/* compare.h - cov2bigwig --measured: how well the tracks of an input agree with measured ones.
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
#include "common/signal/track_source.h"
#include "common/track/measures/comparison.h"

/* Memory for counting pairs of values, for all datasets and bin sizes together; see
 * comparison.h. */
enum { COV_COMPARE_MEMORY = 256000000, COV_COMPARE_MAX_BIN_SIZES = 16 };

struct cov_compare_options {
    /* How to make the tracks of the input. `output` is the file of the table; if it is NULL or "-",
     * the table goes to `printed`. */
    struct cov_convert_options input;
    FILE *printed;
    bool is_short;        /* print the totals only, aligned for a terminal */
    const char *measured; /* a bigWig, a bedGraph, or a genome file or stream with coverage */
    /* Bin sizes, each once, 1 to COV_COMPARE_MAX_BIN_SIZES of them; peaks. The job sets the rest. */
    struct cov_comparison_options comparison;
};

/* Compares the tracks of `input`, made like those of cov_convert_run, with the measured file, that
 * is, with the mean over its BAM files and both strands (or the requested strand). Means of
 * measured coverage are not rounded, unlike those of tracks: many BAM files of low coverage would
 * all become 0. Datasets of two HDF5 inputs are matched by name; to compare an HDF5 input with a
 * track, there must be exactly one dataset. Writes a tab-separated table with rows for each contig
 * of a dataset and for its total; *stats gets "comparison". Warns about contigs that only one input
 * has. The measured tracks are stored in temporary files in `tmpdir`, or in the directory of the
 * output, or in the current directory. COV_EUSAGE for contradictory options. COV_EINPUT for options
 * that do not fit the files, damaged files, contigs of different lengths or bases (the message
 * names both), or if nothing is shared. Borrows `options` and `input` until --stats has been
 * printed. */
int cov_compare_run(const char *input, struct cov_compare_options *options, unsigned n_threads,
                    struct cov_progress *progress, struct cov_stats *stats,
                    struct cov_err *e) COV_MUST_USE;

/* For stats->plot: the correlations, in a MultiQC report. */
extern const struct cov_stats_plot cov_compare_plot;

/* Compares the bases that two inputs were made from (same_bases.c): names and lengths of contigs
 * can be the same in different assemblies. COV_EINPUT, naming both inputs and the first place, if
 * their bases differ in a contig that both have. A genome file has bases, and a predictions file of
 * covpredict has fingerprints of bases; nothing is compared if an input has neither, or if it is a
 * track or a stream, or where the chunks of the two are at different positions. */
int cov_same_bases_check(const struct cov_track_source *a, const struct cov_track_source *b,
                         const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

#endif
