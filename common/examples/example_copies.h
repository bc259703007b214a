/* example_copies.h - warns of validation on training data.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_EXAMPLE_COPIES_H
#define COV_EXAMPLES_EXAMPLE_COPIES_H

#include "common/base/err.h"
#include "common/examples/examples.h"

/* After cov_examples_prepare: warns of each file of `val` that has the chunks of a file of `train`
 * (cov_examples_same_chunks), and of the share of chunks in each other one whose bases, on either
 * strand, are in `train`. The share is not known with COV_LOAD_RANKS. HDF5's thread. */
int cov_examples_warn_copies(const struct cov_examples *val, const struct cov_examples *train,
                             struct cov_err *e) COV_MUST_USE;

#endif
