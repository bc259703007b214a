/* cat.h - converts a file of chunks to a chunk stream.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_CAT_H
#define COV_JOB_CHUNKS_CAT_H

#include "common/base/err.h"
#include "common/job/chunks/rewrite.h"

/* Writes the file `input` as a stream to `output` ("-": standard output), in the order of pairs. */
int cov_cat(const char *input, const char *output, const struct cov_rewrite_job *job,
            struct cov_err *e) COV_MUST_USE;

#endif
