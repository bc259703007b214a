/* cuda_training.h - training on a card. Parameters, moments and gradients stay on the card: a step copies bases
 * and targets in, and a few sums out.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_TRAINING_H
#define COV_COMPUTE_CUDA_CUDA_TRAINING_H

#include "common/compute/cuda/cuda_program.h"

/* Implements both tables of struct cov_training (common/compute/device.h) on card `which` of the
 * list. spec->max_batch is this card's share if there are several. The text of COV_ENOMEM suggests
 * a batch size, shared by all cards, for which memory suffices. */
int cov_cuda_training_new(const struct cov_cuda_cards *cards, size_t which,
                          const struct cov_training_spec *spec,
                          struct cov_cuda_arithmetic arithmetic, size_t shared_bytes,
                          struct cov_training **out, struct cov_err *e) COV_MUST_USE;

#endif
