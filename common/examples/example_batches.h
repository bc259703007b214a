/* example_batches.h - the examples of an epoch in batches: their order, and a thread that prepares
 * batches in advance.
 *
 * The order depends only on the seed, the number of the epoch and the options.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_EXAMPLE_BATCHES_H
#define COV_EXAMPLES_EXAMPLE_BATCHES_H

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

struct cov_feed_batch {
    size_t n;
    uint8_t *codes; /* [n, L] */
    float *targets; /* [n, L, D] */
    bool *present;  /* [n, D]; false for gaps */
};

/* Prepares batches in advance, in a thread. Between begin and end, only that thread reads the files. */
struct cov_example_feed;

/* Allocates n_slots >= 2 batches of at most max_batch examples of *x (borrowed until free); the
 * caller uses one of them. Free with cov_example_feed_free. */
int cov_example_feed_new(struct cov_examples *x, size_t max_batch, size_t n_slots,
                         struct cov_example_feed **out, struct cov_err *e) COV_MUST_USE;
void cov_example_feed_free(struct cov_example_feed *f); /* calls end first; NULL is accepted */

/* Starts preparing the batches of a plan (borrowed until end), from batch `first` on. Prepares only
 * the examples of share `share` of n_shares of each batch; a share may be empty. */
int cov_example_feed_begin(struct cov_example_feed *f, const struct cov_example_plan *plan,
                           size_t first, size_t share, size_t n_shares,
                           struct cov_err *e) COV_MUST_USE;
/* Returns 1 and the next batch, valid until the next call; 0 after the last; or a negative error
 * code. */
int cov_example_feed_next(struct cov_example_feed *f, const struct cov_feed_batch **batch,
                          struct cov_err *e) COV_MUST_USE;
/* Stops at any point; does nothing without a begin. */
void cov_example_feed_end(struct cov_example_feed *f);

/* Sets [*beg, *end) to the examples in a share of a batch of n examples. */
void cov_example_feed_share(size_t n, size_t share, size_t n_shares, size_t *beg, size_t *end);

#endif
