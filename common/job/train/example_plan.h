/* example_plan.h - the examples of an epoch in their order, and the batches that they make.
 *
 * The seed, the number of the epoch and the options decide, nothing else.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_EXAMPLE_PLAN_H
#define COV_JOB_TRAIN_EXAMPLE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/job/train/examples.h"

struct cov_example_plan_options {
    size_t batch;      /* examples of a batch; at least 2 with pair_strands */
    bool shuffle;      /* an order of its own in each epoch; else that of files and rows */
    bool pair_strands; /* both strands of an interval are in one batch, side by side, where both are
                          kept; a batch may be one example short for it */
    /* Stretches of rows that follow each other are cut at a new offset in each epoch: examples of L
     * bases from there on, and at the ends what is left, unless it is shorter than L / 8. Stretches of
     * at most L bases stay whole. */
    bool random_offset;
    uint64_t seed;
};

struct cov_example_plan {
    struct cov_example *items;
    size_t n;
    size_t *ends; /* [n_batches]: batch i is items[ends[i - 1] .. ends[i]), with ends[-1] = 0 */
    size_t n_batches;
};

/* The plan of an epoch over all rows that are kept. Free with cov_example_plan_fini. */
int cov_example_plan_init(struct cov_example_plan *p, const struct cov_examples *x,
                          const struct cov_example_plan_options *options, uint64_t epoch,
                          struct cov_err *e) COV_MUST_USE;
void cov_example_plan_fini(struct cov_example_plan *p); /* harmless on zeros */

#endif
