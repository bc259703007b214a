/* merge.h - joins the parts of a file of chunks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_MERGE_H
#define COV_JOB_CHUNKS_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/job/chunks/rewrite.h"

/* Joins n files, given in any order. The output is in Helixer's order: sequences as the parts list
 * them, + chunks ascending, then - chunks descending. Attributes and storage are those of the part
 * with the first row, except COV_SHARD_ATTR, which names missing parts in messages. COV_EINPUT if
 * the parts differ in genome or data sets, if chunks overlap, or, unless allow_holes, if chunks are
 * missing; a result with holes is partial. */
int cov_merge(const char *const *inputs, size_t n, const char *output, bool allow_holes,
              const struct cov_rewrite_job *job, struct cov_err *e) COV_MUST_USE;

#endif
