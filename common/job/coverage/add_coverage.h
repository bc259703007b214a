/* add_coverage.h - the job of bam2h5: adds measured coverage from alignments, BED, bigWig or
 * bedGraph files to a genome file.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_COVERAGE_ADD_COVERAGE_H
#define COV_JOB_COVERAGE_ADD_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/features/counting.h"

struct cov_coverage_add_options {
    const char *output; /* new file; NULL: replaces the genome file */
    bool force;
    unsigned n_threads;
    const char *prefix;
    const char *const *files; /* BAM, CRAM, SAM, BED, bigWig or bedGraph, by content */
    size_t n_files;
    struct cov_counting counting; /* for reads */
    const char *for_alignments;   /* a given option that applies only to BAM, CRAM and SAM */
    const char *for_reads;        /* one that applies only to these and BED; NULL: none */
    const char *blacklist_path;   /* sequences or regions whose values are 0; NULL: none */
    const char *reference;        /* for CRAM; NULL: htslib finds it */
    const char *rename_path; /* two columns: name in the files, name in the genome; NULL: none */
    size_t elem_bytes;       /* bytes per stored value: 2, 4, 8, or 0 for the smallest that fits */
    enum { COV_COVERAGE_NEW, COV_COVERAGE_APPEND, COV_COVERAGE_REPLACE } mode;
    const char *tmpdir;
};

/* Counts the files over the chunks of the genome file `genome` and writes a copy of it with the
 * coverage to `output`, which appears when it is complete. Values of tracks are used as they are,
 * for both strands. Warns about contigs that only the genome or only a file has. COV_EINPUT if the
 * lengths of a contig differ (the message names both), or if no contig is shared. COV_EINPUT for
 * options that apply to none of the files. COV_EEXIST if the prefix exists and the mode is NEW. The
 * values do not depend on the number of threads. Adds counted and skipped reads, the mean coverage
 * of each contig, and each column's mean, median and correlation with the others, to *stats. */
int cov_coverage_add(const char *genome, const struct cov_coverage_add_options *options,
                     struct cov_progress *progress, struct cov_stats *stats,
                     struct cov_err *e) COV_MUST_USE;

#endif
