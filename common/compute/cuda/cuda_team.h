/* cuda_team.h - training on several cards: each has the whole network and a share of every batch.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_TEAM_H
#define COV_COMPUTE_CUDA_CUDA_TEAM_H

#include "common/compute/cuda/cuda_training.h"

/* Implements the resident table of struct cov_training (common/compute/device.h). Each card has
 * consecutive parts of every batch (batch_parts.h). Sums over a batch are added in the same order as
 * on one card: any number of cards of the same model gives the same bits, and all cards have the
 * same parameters after each step. At most COV_PARTS cards. The text of COV_ENOMEM suggests a batch
 * size for which memory suffices. */
int cov_cuda_team_new(const struct cov_cuda_cards *cards, const struct cov_training_spec *spec,
                      struct cov_training **out, struct cov_err *e) COV_MUST_USE;

#endif
