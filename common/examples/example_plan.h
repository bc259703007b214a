/* example_plan.h - the order of the examples of an epoch, and their batches.
 *
 * Depends only on the seed, the number of the epoch and the options.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_EXAMPLE_PLAN_H
#define COV_EXAMPLES_EXAMPLE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/examples/examples.h"

/* Where the two strands of an interval are. */
enum cov_example_strands {
    COV_STRANDS_ANYWHERE,
    COV_STRANDS_TOGETHER, /* next to each other in one batch, which may then be one example short */
    COV_STRANDS_APART,    /* never in the same step or in neighbouring ones */
};

struct cov_example_plan_options {
    size_t batch;      /* examples per batch; at least 2 with COV_STRANDS_TOGETHER */
    size_t accumulate; /* batches per step; matters with COV_STRANDS_APART */
    /* Draw equally many units of each species, as many in all as there are; a unit is an interval or,
     * with COV_STRANDS_ANYWHERE, a strand of it. Of each species, all have been drawn before one is
     * drawn again. Batches have the same share of each species, up to one unit. Needs `shuffle`, and
     * not COV_STRANDS_APART. */
    bool balance_species;
    bool shuffle; /* a new random order in each epoch; otherwise files and rows in order */
    enum cov_example_strands strands;
    /* Cut stretches of consecutive rows at a new offset in each epoch: the examples are pieces of L
     * bases from that offset on, and the remainders at both ends unless shorter than L / 8.
     * Stretches of at most L bases stay whole. */
    bool random_offset;
    uint64_t seed;
};

struct cov_example_plan {
    struct cov_example *items;
    size_t n;
    size_t *ends; /* [n_batches]: batch i is items[ends[i - 1] .. ends[i]), with ends[-1] = 0 */
    size_t n_batches;
};

/* Plans an epoch over all kept rows. Free with cov_example_plan_fini. COV_EINPUT if there are too few
 * steps to keep strands apart. */
int cov_example_plan_init(struct cov_example_plan *p, const struct cov_examples *x,
                          const struct cov_example_plan_options *options, uint64_t epoch,
                          struct cov_err *e) COV_MUST_USE;
/* Returns a fingerprint of the examples, their order and their batches, not negative. */
int64_t cov_example_plan_fingerprint(const struct cov_example_plan *p);
void cov_example_plan_fini(struct cov_example_plan *p); /* accepts an all-zero plan */

#endif
