/* encode.h - FASTA to genome file or chunk stream.
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

/* Reads `fasta` ("-": standard input) and writes it, as it comes, to the genome file `output`,
 * which appears when it is complete and a sample of it has been read back; or, "-", to standard
 * output as the chunk stream. The same bytes for any number of threads. Memory is that of the
 * names, of a few chunks a thread and of 48 MiB; chunks of the - strand wait there, or else in
 * genome.tmpdir, until their sequence ends. Fills in bases, chunks and stages of *stats: parse,
 * encode (summed over the threads), hdf5 or output, verify, commit. */
int cov_encode_fasta(const char *fasta, const char *output, bool force,
                     const struct cov_encode_options *options, const struct cov_job *job,
                     struct cov_err *e) COV_MUST_USE;

#endif
