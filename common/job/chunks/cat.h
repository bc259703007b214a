/* cat.h - files of chunks to the chunk stream, and back.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_CAT_H
#define COV_JOB_CHUNKS_CAT_H

#include "common/base/err.h"
#include "common/job/chunks/rewrite.h"

/* All that is in `input` as a stream at `output` ("-": standard output), in the order of pairs. */
int cov_cat(const char *input, const char *output, const struct cov_recast_job *job,
            struct cov_err *e) COV_MUST_USE;

/* The stream `input` ("-": standard input) as a file in Helixer's order. `storage`: chunk_rows must
 * be 0; what is not said is gzip and one-hot. `tmpdir` (NULL: the folder of `output`) is for -
 * chunks that wait for the end of their sequence. */
int cov_save(const char *input, const char *output, const struct cov_recast_storage *storage,
             const char *tmpdir, const struct cov_recast_job *job, struct cov_err *e) COV_MUST_USE;

#endif
