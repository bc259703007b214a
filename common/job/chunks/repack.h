/* repack.h - one file of chunks to another: all rows in another storage, or some of them.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_REPACK_H
#define COV_JOB_CHUNKS_REPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/job/chunks/rewrite.h"

/* All rows of `input`, stored in another way. */
int cov_repack(const char *input, const char *output, const struct cov_recast_storage *storage,
               const struct cov_recast_job *job, struct cov_err *e) COV_MUST_USE;

/* What is wanted of a file: what lies in a region, or in a sequence that is listed (all, if nothing
 * of this is given), is in a sequence of at least min_length bases and, with drop_n, is not all N.
 */
struct cov_subset_options {
    const char *const *regions;
    size_t n_regions;
    const char *bed_path, *names_path, *excluded_path; /* or NULL */
    int64_t min_length;
    bool drop_n;
};

/* The wanted rows of `input` in their order, as a partial file if something is missing. COV_EINPUT
 * when nothing is left. */
int cov_subset(const char *input, const char *output, const struct cov_subset_options *options,
               const struct cov_recast_job *job, struct cov_err *e) COV_MUST_USE;

#endif
