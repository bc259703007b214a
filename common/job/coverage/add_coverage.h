/* add_coverage.h - measured coverage from alignments, bigWig or bedGraph into a genome file: the work of
 * bam2h5.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_COVERAGE_ADD_COVERAGE_H
#define COV_JOB_COVERAGE_ADD_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/track/counting.h"

struct cov_coverage_add_options {
    const char *output; /* a new file; NULL: replaces the genome file */
    bool force;
    unsigned n_threads;
    const char *prefix;
    const char *const *files; /* BAM, CRAM, SAM, bigWig or bedGraph, told by content */
    size_t n_files;
    struct cov_counting counting; /* of reads */
    const char *for_reads;   /* name of an option that was given and is about reads; NULL: none */
    const char *reference;   /* for CRAM; NULL: as htslib finds it */
    const char *rename_path; /* two columns: name in the files, name in the genome; NULL: none */
    size_t elem_bytes;       /* of a stored value: 2, 4, 8, or 0: the smallest that fits */
    enum { COV_COVERAGE_NEW, COV_COVERAGE_APPEND, COV_COVERAGE_REPLACE } mode;
    const char *tmpdir;
};

/* Counts the files over the chunks of the genome file `genome` and writes a copy of it with the
 * coverage to `output` (NULL: in its place), which appears when it is complete. Tracks are taken as
 * they are, for both strands. Names and counts what is missing on either side; COV_EINPUT for
 * contigs of another length, naming both lengths, and when no contig is common. COV_EUSAGE when
 * options are about reads and no file has any. COV_EEXIST when the prefix is there and the mode is
 * NEW. The same values for any number of threads. Adds to stats what was counted and skipped, and
 * the mean coverage of each contig. */
int cov_coverage_add(const char *genome, const struct cov_coverage_add_options *options,
                     struct cov_progress *progress, struct cov_stats *stats,
                     struct cov_err *e) COV_MUST_USE;

#endif
