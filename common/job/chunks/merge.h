/* merge.h - the parts of a file of chunks to the whole.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_MERGE_H
#define COV_JOB_CHUNKS_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/job/chunks/rewrite.h"

/* The n files, in any order, as one in Helixer's order: sequences as the parts list them, + chunks
 * ascending, - chunks descending. Attributes and storage are those of the part with the first row.
 * COV_EINPUT names file and what differs when parts are not of one genome or hold not the same data
 * sets, and sequence, strand and position where chunks overlap or, unless `allow_holes`, are
 * missing; with holes the result is partial. */
int cov_merge(const char *const *inputs, size_t n, const char *output, bool allow_holes,
              const struct cov_recast_job *job, struct cov_err *e) COV_MUST_USE;

#endif
