/* verify.h - whether a file of chunks is sound: that every chunk decodes, the rows tile the
 * sequences, the strands agree, and what is in them can be true.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_VERIFY_H
#define COV_JOB_CHUNKS_VERIFY_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"

/* Of one kind of finding in one data set, more lines than this are only counted. */
enum { COV_VERIFY_MAX_LINES = 20 };

/* Prints a line a finding to `out`, whose errors are left to the caller:
 *
 *   FILE: DATA SET: row N (SEQUENCE:BEG-END, - strand): REASON
 *
 * (rows, and indexes and columns in the reason, from 0, as HDF5 counts; BEG from 1) in an order that does not depend on the number of threads; *n_findings is how many there are,
 * those that were only counted included. A file that cannot be opened is a failure, not a finding.
 *
 * A finding is: a chunk that cannot be decoded; a base that is none, behind the end, or missing; a
 * chunk of the - strand that is not the reverse complement of that of the + strand, or that the
 * other strand lacks; rows of a strand that overlap, leave a hole (unless the file is partial) or
 * end before the sequence does; coverage or predictions that are negative (but for -1 where only
 * regions were predicted) or not finite, or not -1 behind the end; a blacklist with anything but 0 and 1; lists of names that do not fit the columns
 * that they name, with empty names, or names that come twice; sequences with names that are no
 * word, or with the same name. */
int cov_verify(const char *path, struct cov_pool *pool, FILE *out, struct cov_progress *progress,
               struct cov_stats *stats, size_t *n_findings, struct cov_err *e) COV_MUST_USE;

#endif
