/* encode.h - converts FASTA to a genome file or a chunk stream.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_ENCODE_ENCODE_H
#define COV_JOB_ENCODE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/chunk/chunk_file.h"
#include "common/cli/stats.h"
#include "common/codec/codec.h"
#include "common/seq/genome.h"

struct cov_encode_options {
    const char *species;
    size_t chunk_length;                 /* L > 0 */
    enum cov_layout layout;              /* of a file */
    struct cov_codec_choice compression; /* of a file */
    struct cov_genome_options genome;
};

/* Converts `fasta` ("-": standard input) in one pass to the genome file `output`, or to a chunk
 * stream on standard output ("-"). The file appears once it is complete and a sample of it has been
 * read back. The output does not depend on the number of threads. Memory holds the names, a few
 * chunks per thread, and up to 48 MiB of - chunks, which wait there or in genome.tmpdir until their
 * sequence ends. Sets bases, chunks and stages in job->stats; the stages are parse, encode (summed
 * over the threads), then hdf5, verify and output for a file, or output for a stream. */
int cov_encode_fasta(const char *fasta, const char *output, bool force,
                     const struct cov_encode_options *options, const struct cov_job *job,
                     struct cov_err *e) COV_MUST_USE;

#endif
