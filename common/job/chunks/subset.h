/* subset.h - selects rows of a file of chunks: a subset, shards, or training and validation data.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_SUBSET_H
#define COV_JOB_CHUNKS_SUBSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/job/chunks/rewrite.h"

/* Keeps chunks that overlap a region or belong to a listed sequence (all chunks if neither is
 * given). Drops chunks of sequences shorter than min_length bases and, with drop_n, chunks that are
 * all N. */
struct cov_subset_options {
    const char *const *regions;
    size_t n_regions;
    const char *bed_path, *names_path, *excluded_path; /* or NULL */
    int64_t min_length;
    bool drop_n;
};

/* Writes the selected rows of `input` in their order, as a partial file unless all are selected.
 * COV_EINPUT if no row is selected. */
int cov_subset(const char *input, const char *output, const struct cov_subset_options *options,
               const struct cov_rewrite_job *job, struct cov_err *e) COV_MUST_USE;

/* Writes shards of consecutive pairs, PREFIX.1.h5 ... PREFIX.n.h5; either all shards appear or
 * none. COV_EINPUT if there are fewer pairs than shards. */
int cov_split_shards(const char *input, const char *prefix, size_t n,
                     const struct cov_rewrite_job *job, struct cov_err *e) COV_MUST_USE;

struct cov_split_holdout {
    const char *names_path; /* sequences for validation; NULL: draw at random */
    double fraction;        /* share to draw, 0 < fraction < 1 */
    uint64_t seed;
    bool by_pairs; /* draw pairs; otherwise whole sequences (holdout.h) */
    bool allow_copies;
};

/* Writes FOLDER/train/STEM.h5 and FOLDER/val/STEM.h5 with the stem of `input`. Creates missing
 * folders, and removes them on failure. Unless allow_copies is set, chunks for validation that have
 * the bases of a chunk for training, on either strand, go to training; chunks of N only may be in
 * both. COV_EINPUT if one of the files would be empty. Adds the number of chunks that were moved to
 * the statistics. */
int cov_split_holdout(const char *input, const char *folder,
                      const struct cov_split_holdout *options, const struct cov_rewrite_job *job,
                      struct cov_err *e) COV_MUST_USE;

#endif
