/* synth.h - synthetic genomes of any size, and reads of them; without genes.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_SYNTH_H
#define BENCHMARK_SYNTH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"

struct synth_options {
    int64_t n_bases; /* of all contigs */
    int64_t n_contigs;
    double gc, n_content, repeats; /* fractions of all bases; repeats are in lower case */
    bool rna;                      /* U for T */
    double depth;                  /* mean read depth; 0: no reads */
    int64_t read_length;
    uint64_t seed;
};

/* Writes the genome as FASTA, and, if sam_path is not NULL, the reads as SAM, sorted by position: half of them
 * anywhere, half within a few hundred bases of peaks, which are 10 kb apart. The contigs chr1, chr2 ... vary in
 * length by up to a factor of three. The output does not depend on the pool. COV_EUSAGE if the options
 * contradict each other. */
int synth_files(const struct synth_options *options, const char *fasta_path, const char *sam_path,
                bool force, struct cov_pool *pool, struct cov_progress *progress,
                struct cov_err *e) COV_MUST_USE;

#endif
