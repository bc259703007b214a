/* holdout.h - chooses the chunks of a genome that are held out for validation.
 *
 * Whole sequences are chosen as in Predmoter's intra-species script. Sequences are sorted by their
 * number of chunks, largest first. The sequences up to N90 (the first sequence at which the running
 * sum reaches 90 % of all chunks, rounded down) form one group, the others a second group. From
 * each group of n > 1 sequences, ceil(n * fraction) random sequences are held out, but never all; a
 * group of one sequence is for training. The same seed gives the same choice on every machine.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_HOLDOUT_H
#define COV_SEQ_HOLDOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/grid.h"

/* Sets held[i] for each row i of the grid: true if the row is for validation. 0 < fraction < 1.
 * Fails with COV_EINPUT if there are too few sequences to hold any out. */
int cov_holdout_sequences(const struct cov_grid *g, double fraction, uint64_t seed, bool *held,
                          struct cov_err *e) COV_MUST_USE;

/* Holds out random pairs of any sequence instead: ceil(n * fraction) of n pairs, but never all.
 * Both strands of an interval stay together. */
int cov_holdout_pairs(const struct cov_grid *g, double fraction, uint64_t seed, bool *held,
                      struct cov_err *e) COV_MUST_USE;

#endif
