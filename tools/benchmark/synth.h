/* synth.h - made-up genomes of any size, and reads of them, for measuring: nothing in them codes for a
 * protein.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_SYNTH_H
#define COV_BENCHMARK_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"

struct cov_synth_options {
    int64_t n_bases; /* of all contigs together */
    int64_t n_contigs;
    double gc, n_content,
        repeats;  /* parts of all bases: G and C, N, copies of repeats (in lower case) */
    bool rna;     /* U for T */
    double depth; /* reads that cover a base, on the average; 0: no reads */
    int64_t read_length;
    uint64_t seed;
};

/* Writes the FASTA to `fasta`, and, unless that is NULL, the reads to `sam`, sorted by position: half of
 * them anywhere, half within a few hundred bases of peaks, 10 kb apart. Contigs are called chr1, chr2
 * and so on, and differ in length by up to three times. The same text for the same options, whatever the
 * pool. Errors of the streams are COV_EIO; the caller flushes and closes them. */
int cov_synth_write(const struct cov_synth_options *options, FILE *fasta, FILE *sam,
                    struct cov_pool *pool, struct cov_progress *progress,
                    struct cov_err *e) COV_MUST_USE;

/* The same to files, which appear whole; `sam_path` may be NULL. */
int cov_synth_files(const struct cov_synth_options *options, const char *fasta_path,
                    const char *sam_path, bool force, struct cov_pool *pool,
                    struct cov_progress *progress, struct cov_err *e) COV_MUST_USE;

/* Options that cannot be met: COV_EUSAGE. */
int cov_synth_check(const struct cov_synth_options *options, struct cov_err *e) COV_MUST_USE;

#endif
