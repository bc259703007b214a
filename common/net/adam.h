/* adam.h - the optimiser: PyTorch's Adam (Kingma and Ba, "Adam: A Method for Stochastic
 * Optimization", 2015), with the weight decay of AdamW (Loshchilov and Hutter, "Decoupled Weight
 * Decay Regularization", 2019): each step first multiplies all parameters by
 * 1 - learning_rate weight_decay.
 * SPDX-License-Identifier: MIT */
#ifndef COV_NET_ADAM_H
#define COV_NET_ADAM_H

#include <stddef.h>
#include <stdint.h>

#include "common/compute/device.h"

/* A slice of the parameters; the arrays do not overlap. */
struct cov_adam_slice {
    size_t n;
    const float *gradient; /* [n] */
    float *parameters, *moment1, *moment2;
};

/* Performs step number `step` (the first is 1) with the gradient times `scale`. Any split of the
 * parameters into slices gives the same bits. */
void cov_adam_step(const struct cov_adam *adam, int64_t step, double scale,
                   const struct cov_adam_slice *slice);

#endif
