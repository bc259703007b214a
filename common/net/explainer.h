/* explainer.h - the gradients of what a network predicts with respect to its inputs.
 * SPDX-License-Identifier: MIT */
#ifndef COV_NET_EXPLAINER_H
#define COV_NET_EXPLAINER_H

#include "common/compute/device.h"
#include "common/net/hparams.h"

struct cov_explainer;

/* A network with the parameters in `block` (shape.h), for up to max_batch chunks of L positions at
 * a time. All are borrowed until free. */
struct cov_explainer_options {
    const struct cov_hparams *hp;
    const float *block;
    size_t L, max_batch;
    struct cov_pool *pool;
};

/* Prepares the network. Borrows dev until free. COV_EUNSUPPORTED if the device cannot compute
 * gradients of inputs. */
int cov_explainer_new(struct cov_device *dev, const struct cov_explainer_options *options,
                      struct cov_explainer **out, struct cov_err *e) COV_MUST_USE;
void cov_explainer_free(struct cov_explainer *x); /* NULL is accepted */

/* cov_gradient_ops.explain (device.h). */
int cov_explainer_run(struct cov_explainer *x, const struct cov_explain_batch *batch, double *sums,
                      float *gradient, struct cov_err *e) COV_MUST_USE;

#endif
