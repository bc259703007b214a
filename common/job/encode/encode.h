/* encode.h - converts FASTA to a genome file or a chunk stream.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_ENCODE_ENCODE_H
#define COV_JOB_ENCODE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/codec/codec.h"
#include "common/job/job.h"
#include "common/seq/genome.h"
#include "common/store/chunk_file.h"

struct cov_encode_options {
    const char *species;
    size_t chunk_length;                 /* L > 0 */
    enum cov_layout layout;              /* of a file */
    struct cov_codec_choice compression; /* of a file */
    struct cov_genome_options genome;
};

/* Converts `fasta` ("-": standard input) in one pass to the genome file `output`, which appears
 * once it is complete and a sample of it was read back, or to a chunk stream on standard output
 * ("-"). The output does not depend on the number of threads. Memory: names, a few chunks per
 * thread, and 48 MiB for chunks of the - strand, which wait there or in genome.tmpdir until their
 * sequence ends. Fills in bases, chunks and stages of job->stats: parse, encode (summed over the
 * threads), hdf5 or output, verify, commit. */
int cov_encode_fasta(const char *fasta, const char *output, bool force,
                     const struct cov_encode_options *options, const struct cov_job *job,
                     struct cov_err *e) COV_MUST_USE;

#endif
