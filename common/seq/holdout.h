/* holdout.h - which chunks of a genome are kept back for validation.
 *
 * The rule by sequence is that of Predmoter's intra-species script: sequences are sorted by their
 * number of chunks, longest first; those up to N90 (the first at which the sum reaches 90 % of all
 * chunks, rounded down) are one group, the others a second one; of each group of n > 1, ceil(n *
 * fraction) sequences at random are for validation, but at least one is not; a group of one is for
 * training. The same seed draws the same on every machine.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_HOLDOUT_H
#define COV_SEQ_HOLDOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/grid.h"

/* held[i], for each row i of the grid: whether it is for validation. 0 < fraction < 1. COV_EINPUT
 * when nothing can be held back: too few sequences. */
int cov_holdout_sequences(const struct cov_grid *g, double fraction, uint64_t seed, bool *held,
                          struct cov_err *e) COV_MUST_USE;

/* The same drawn by pairs, whatever their sequence: ceil(n * fraction) of n pairs, but not all.
 * Both strands of an interval go the same way. */
int cov_holdout_pairs(const struct cov_grid *g, double fraction, uint64_t seed, bool *held,
                      struct cov_err *e) COV_MUST_USE;

#endif
