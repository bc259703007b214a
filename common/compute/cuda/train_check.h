/* train_check.h - whether a card trains as the scalar reference does: a step of a small network with all kinds of
 * layers, before any other is trusted to it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_TRAIN_CHECK_H
#define COV_COMPUTE_CUDA_TRAIN_CHECK_H

#include "common/compute/cuda/cuda_program.h"

/* COV_EIO, with the card's name, if the first of the cards makes other gradients. */
int cov_cuda_train_check(const struct cov_cuda_cards *cards, struct cov_cuda_arithmetic arithmetic,
                         size_t shared_bytes, struct cov_pool *pool,
                         struct cov_err *e) COV_MUST_USE;

#endif
