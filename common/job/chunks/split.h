/* split.h - one file of chunks to several partial ones.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_SPLIT_H
#define COV_JOB_CHUNKS_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/job/chunks/rewrite.h"

/* Shards by pairs, in order: PREFIX.1.h5 ... PREFIX.n.h5, of which all appear or none. COV_EUSAGE
 * when there are fewer pairs than shards. */
int cov_split_shards(const char *input, const char *prefix, size_t n,
                     const struct cov_recast_job *job, struct cov_err *e) COV_MUST_USE;

struct cov_split_holdout {
    const char *names_path; /* sequences for validation; or NULL: */
    double fraction;        /* drawn, 0 < fraction < 1 */
    uint64_t seed;
    bool by_pairs; /* else by sequence (holdout.h) */
};

/* FOLDER/train/STEM.h5 and FOLDER/val/STEM.h5, STEM being that of `input`. Folders that are missing
 * are made, and removed again on failure. COV_EINPUT when one of the two would be empty. */
int cov_split_holdout(const char *input, const char *folder,
                      const struct cov_split_holdout *options, const struct cov_recast_job *job,
                      struct cov_err *e) COV_MUST_USE;

#endif
