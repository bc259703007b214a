/* example_feed.h - batches of examples, made ahead by a thread of their own.
 *
 * Between begin and end that thread is the one that reads the files.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_EXAMPLE_FEED_H
#define COV_JOB_TRAIN_EXAMPLE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/job/train/example_plan.h"
#include "common/job/train/examples.h"

struct cov_feed_batch {
    size_t n;
    uint8_t *codes; /* [n, L] */
    float *targets; /* [n, L, D] */
    bool *present;  /* [n, D]; not of a gap */
};

struct cov_example_feed;

/* Room for n_slots batches of at most max_batch examples of *x (borrowed until free), one of which is the
 * caller's. n_slots >= 2. Free with cov_example_feed_free. */
int cov_example_feed_new(struct cov_examples *x, size_t max_batch, size_t n_slots,
                         struct cov_example_feed **out, struct cov_err *e) COV_MUST_USE;
void cov_example_feed_free(struct cov_example_feed *f); /* NULL is accepted; ends first */

/* Starts with the batches of a plan (borrowed until end): of each, the examples of share `share` of
 * n_shares, that follow each other; a share may be empty. */
int cov_example_feed_begin(struct cov_example_feed *f, const struct cov_example_plan *plan,
                           size_t share, size_t n_shares, struct cov_err *e) COV_MUST_USE;
/* The next batch, which stays until the next call; returns 1, 0 behind the last, or a failure. */
int cov_example_feed_next(struct cov_example_feed *f, const struct cov_feed_batch **batch,
                          struct cov_err *e) COV_MUST_USE;
/* Ends, wherever it is. Harmless without a begin. */
void cov_example_feed_end(struct cov_example_feed *f);

/* The share [*beg, *end) of a batch of n. */
void cov_example_feed_share(size_t n, size_t share, size_t n_shares, size_t *beg, size_t *end);

#endif
