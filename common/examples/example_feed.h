/* example_feed.h - prepares batches of examples in advance, in a thread.
 *
 * Between begin and end, only that thread reads the files.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_EXAMPLE_FEED_H
#define COV_EXAMPLES_EXAMPLE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/examples/example_plan.h"
#include "common/examples/examples.h"

struct cov_feed_batch {
    size_t n;
    uint8_t *codes; /* [n, L] */
    float *targets; /* [n, L, D] */
    bool *present;  /* [n, D]; false for gaps */
};

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
