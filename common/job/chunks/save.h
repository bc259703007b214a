/* save.h - converts a chunk stream to a file of chunks, the reverse of cat.h.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_SAVE_H
#define COV_JOB_CHUNKS_SAVE_H

#include "common/base/err.h"
#include "common/job/chunks/rewrite.h"

/* Writes the stream `input` ("-": standard input) as a file in Helixer's order. storage->chunk_rows
 * must be 0; the default storage is gzip and one-hot. The - chunks wait in `tmpdir` (NULL: the
 * folder of `output`) until their sequence ends. */
int cov_save(const char *input, const char *output, const struct cov_rewrite_storage *storage,
             const char *tmpdir, const struct cov_rewrite_job *job, struct cov_err *e) COV_MUST_USE;

#endif
