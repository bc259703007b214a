/* target_counts.h - counts the coverage values of a genome file's chunks, for their median.
 *
 * Memory is bounded: 1 MB per dataset. Values up to 655.35 are exact (targets are hundredths);
 * larger ones count as the next smaller number with 11 significant bits.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_TARGET_COUNTS_H
#define COV_EXAMPLES_TARGET_COUNTS_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/examples/ranks.h"

struct cov_target_counts;

int cov_target_counts_new(size_t n_datasets, struct cov_target_counts **out,
                          struct cov_err *e) COV_MUST_USE;
void cov_target_counts_free(struct cov_target_counts *c); /* NULL is accepted */
void cov_target_counts_clear(struct cov_target_counts *c);

/* Any thread: counts the values above 0 of targets[L, n_datasets]. */
void cov_target_counts_add(struct cov_target_counts *c, const float *targets, size_t L);
/* Collective: adds the counts of all processes. */
int cov_target_counts_share(struct cov_target_counts *c, struct cov_ranks *ranks,
                            struct cov_err *e) COV_MUST_USE;
/* Returns the smallest value such that at least half of the counted values are not above it; 0 if
 * nothing was counted. */
double cov_target_counts_median(const struct cov_target_counts *c, size_t dataset);

#endif
