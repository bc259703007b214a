/* adam.h - the optimiser: Adam as PyTorch's, without weight decay (Kingma and Ba, "Adam: A Method
 * for Stochastic Optimization", 2015).
 * SPDX-License-Identifier: MIT */
#ifndef COV_NET_ADAM_H
#define COV_NET_ADAM_H

#include <stddef.h>
#include <stdint.h>

struct cov_adam {
    double learning_rate, beta1, beta2, eps; /* 0.001, 0.9, 0.999, 1e-8 */
    double clip;    /* the norm of the gradient is cut to it; 0: it is not */
    double average; /* average = average * this + parameters * (1 - this) after the step; 0: none */
};

/* Step number `step` (the first is 1) of parameters p[n] with the gradient g times `scale`; m and v
 * are the moments. Any split of the parameters into calls gives the same bits. */
void cov_adam_step(const struct cov_adam *adam, int64_t step, double scale, size_t n,
                   const float *g, float *p, float *m, float *v);

#endif
