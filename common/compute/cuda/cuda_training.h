/* cuda_training.h - training on a card. Parameters, moments and gradients stay on the card: a step copies bases
 * and targets in, and a few sums out.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_TRAINING_H
#define COV_COMPUTE_CUDA_CUDA_TRAINING_H

#include "common/compute/cuda/cuda_program.h"

struct cov_cuda_share; /* train_run.h */

/* Card `which` of a list, and what it has of each batch; NULL: all of it. `share` is borrowed until
 * the training is freed. */
struct cov_cuda_seat {
    const struct cov_cuda_cards *cards;
    size_t which;
    const struct cov_cuda_share *share;
};

/* Implements both tables of struct cov_training (common/compute/device.h) on a card, only the
 * resident one if it shares batches. spec->max_batch is for this card. The text of COV_ENOMEM
 * suggests a batch size, shared by all cards, for which memory suffices. */
int cov_cuda_training_new(const struct cov_cuda_seat *seat, const struct cov_training_spec *spec,
                          struct cov_training **out, struct cov_err *e) COV_MUST_USE;

#endif
