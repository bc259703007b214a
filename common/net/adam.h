/* adam.h - the optimiser: Adam as PyTorch's, without weight decay (Kingma and Ba, "Adam: A Method
 * for Stochastic Optimization", 2015).
 * SPDX-License-Identifier: MIT */
#ifndef COV_NET_ADAM_H
#define COV_NET_ADAM_H

#include <stddef.h>
#include <stdint.h>

#include "common/compute/device.h"

/* Step number `step` (the first is 1) of parameters p[n] with the gradient g times `scale`; m and v
 * are the moments. Any split of the parameters into calls gives the same bits. */
void cov_adam_step(const struct cov_adam *adam, int64_t step, double scale, size_t n,
                   const float *g, float *p, float *m, float *v);

#endif
