/* verify.h - checks that a file of chunks is sound: all chunks decode, the rows tile the sequences,
 * the strands agree, and values are valid.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_VERIFY_H
#define COV_JOB_CHUNKS_VERIFY_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/cli/job.h"

/* Prints one line per finding to `out`; the caller checks `out` for errors:
 *
 *   FILE: DATASET: row N (SEQUENCE:BEG-END, - strand): REASON
 *
 * Rows, and the indices and columns in REASON, count from 0, as in HDF5; BEG counts from 1. The
 * order of the lines does not depend on the number of threads. *n_findings includes findings that
 * were counted but not printed. A file that cannot be opened is a failure, not a finding.
 *
 * Findings are:
 * - chunks that cannot be decoded
 * - missing or invalid bases, and bases past the end of the sequence
 * - chunks without a partner on the other strand, or that are not its reverse complement
 * - overlapping rows of a strand, and holes unless the file is partial
 * - coverage or predictions that are negative (except -1 where only regions were predicted), not
 *   finite, or not -1 past the end
 * - blacklist values other than 0 and 1
 * - lists of names that do not fit the columns, and empty or duplicate names in them
 * - sequence names that are duplicate or not a word */
int cov_verify(const char *path, FILE *out, const struct cov_job *job, size_t *n_findings,
               struct cov_err *e) COV_MUST_USE;

#endif
