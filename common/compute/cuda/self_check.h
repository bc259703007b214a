/* self_check.h - compares a card with the CPU on a small network that uses all kinds of kernels, before
 * the card is trusted with any other network. cards->cublas computes products of LSTMs if it is not
 * NULL; without it, each check that passes is made once in a process.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_SELF_CHECK_H
#define COV_COMPUTE_CUDA_SELF_CHECK_H

#include "common/compute/cuda/cuda_program.h"

/* Returns COV_EIO, with the card's name, if card `which` of the list computes different values; in training if
 * there is a pool: different gradients. */
int cov_cuda_self_check(const struct cov_cuda_cards *cards, size_t which, struct cov_pool *pool,
                        struct cov_err *e) COV_MUST_USE;

#endif
