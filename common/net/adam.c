/* adam.c - see adam.h.
 * SPDX-License-Identifier: MIT */
#include "common/net/adam.h"

#include <math.h>

void cov_adam_step(const struct cov_adam *adam, int64_t step, double scale,
                   const struct cov_adam_slice *slice)
{
    const size_t n = slice->n;
    const float *restrict g = slice->gradient;
    float *restrict p = slice->parameters, *restrict m = slice->moment1;
    float *restrict v = slice->moment2;
    double correction1 = 1 - pow(adam->beta1, (double)step);
    double correction2 = 1 - pow(adam->beta2, (double)step);
    float beta2 = (float)adam->beta2, rest1 = (float)(1 - adam->beta1);
    float rest2 = (float)(1 - adam->beta2), by = (float)scale, eps = (float)adam->eps;
    float rate = (float)(adam->learning_rate / correction1);
    float root = (float)sqrt(correction2);
    float keep = (float)(1 - adam->learning_rate * adam->weight_decay); /* 1: no change */
    for (size_t i = 0; i < n; i++) {
        float d = g[i] * by;
        m[i] += rest1 * (d - m[i]);
        v[i] = beta2 * v[i] + rest2 * (d * d);
        p[i] = p[i] * keep - rate * (m[i] / (sqrtf(v[i]) / root + eps));
    }
}
