/* cuda_training.h - training on a card. Parameters, moments and gradients stay there: a step copies
 * bases and targets in, and a few sums out.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_TRAINING_H
#define COV_COMPUTE_CUDA_CUDA_TRAINING_H

#include "common/compute/cuda/cuda_program.h"

/* As struct cov_device_ops says, on the first of the cards. COV_ENOMEM says which batch the card has memory
 * for. */
int cov_cuda_training_new(const struct cov_cuda_cards *cards, const struct cov_training_spec *spec,
                          struct cov_cuda_arithmetic arithmetic, size_t shared_bytes,
                          struct cov_training **out, struct cov_err *e) COV_MUST_USE;
int cov_cuda_training_load(struct cov_training *t, struct cov_err *e) COV_MUST_USE;
int cov_cuda_training_run(struct cov_training *t, uint64_t step,
                          const struct cov_train_batch *batch, float *gradient,
                          struct cov_train_score *score, struct cov_err *e) COV_MUST_USE;
int cov_cuda_training_add(struct cov_training *t, const struct cov_train_batch *batch,
                          struct cov_train_score *score, struct cov_err *e) COV_MUST_USE;
int cov_cuda_training_step(struct cov_training *t, const struct cov_adam *adam,
                           struct cov_err *e) COV_MUST_USE;
int cov_cuda_training_read(struct cov_training *t, struct cov_train_state *state,
                           struct cov_err *e) COV_MUST_USE;
int cov_cuda_training_write(struct cov_training *t, const struct cov_train_state *state,
                            struct cov_err *e) COV_MUST_USE;
void cov_cuda_training_free(struct cov_training *t);

#endif
