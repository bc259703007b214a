/* train.h - training of the network on a device: forward pass in training mode, backward pass,
 * optimiser.
 *
 * Computes what Predmoter does. For a batch of n chunks with targets t[n,L,D], p is the network's
 * output (log coverage), rows are the pairs (chunk, dataset) that have a target, and columns are
 * the positions that are neither padding nor masked.
 *   loss     = sum over rows of w_d mean over columns of (exp(p) - t p)  /  sum over rows of w_d
 *   accuracy = mean over rows of Pearson's r of exp(p) and t, with 1e-8 added to its denominator
 * w_d = 1 without loss_weights. Norms use the mean and (biased) variance of all positions of the
 * batch, including padding, as PyTorch does, and update their running statistics with momentum 0.1
 * (unbiased variance), even if their parameters are frozen. Dropout is applied between LSTM layers.
 *
 * Results do not depend on the number of threads: sums are over fixed pieces in a fixed order.
 * Several processes may share a batch (reduce); each has an equal trainer and makes the same calls
 * in the same order. device.h defines batches, scores, the reduction and the state.
 * SPDX-License-Identifier: MIT */
#ifndef COV_NET_TRAIN_H
#define COV_NET_TRAIN_H

#include "common/base/pool.h"
#include "common/compute/device.h"
#include "common/net/shape.h"

struct cov_trainer;

struct cov_trainer_options {
    const struct cov_hparams *hp; /* including dropout */
    size_t L;                     /* positions of a chunk */
    size_t max_batch;             /* chunks per call */
    uint64_t seed;                /* seed of dropout */
    const float *loss_weights;    /* [D]; NULL: all 1 */
    const bool *frozen; /* [n_items of cov_params]: parameters that do not change; NULL: none */
    bool recompute;     /* keep few activations (device.h) */
    struct cov_train_reduce reduce;
    struct cov_pool *pool; /* borrowed until free */
};

/* `block` and the objects that the options point to are borrowed for the call, except for the pool.
 * Returns COV_EUNSUPPORTED if the device cannot train, or cannot recompute. */
int cov_trainer_new(struct cov_device *dev, const struct cov_trainer_options *options,
                    const float *block, struct cov_trainer **out, struct cov_err *e) COV_MUST_USE;
void cov_trainer_free(struct cov_trainer *t); /* NULL is accepted */

/* Runs the forward and backward passes, adds the gradient of the batch's loss, and updates the
 * running statistics. Returns COV_EINPUT if the loss is not finite, and then changes nothing. */
int cov_trainer_batch(struct cov_trainer *t, const struct cov_train_batch *batch,
                      struct cov_train_score *score, struct cov_err *e) COV_MUST_USE;
/* Performs one step, with the mean of the gradients since the last step. Returns COV_EINPUT if the
 * gradient or its squared norm is not finite (then only the gradient is lost), and COV_EUSAGE if
 * there was no batch since the last step. */
int cov_trainer_step(struct cov_trainer *t, const struct cov_adam *adam,
                     struct cov_err *e) COV_MUST_USE;

/* Writing discards gradients since the last step. */
int cov_trainer_read(struct cov_trainer *t, struct cov_train_state *state,
                     struct cov_err *e) COV_MUST_USE;
int cov_trainer_write(struct cov_trainer *t, const struct cov_train_state *state,
                      struct cov_err *e) COV_MUST_USE;

/* A slice of the parameters; the arrays do not overlap. */
struct cov_adam_slice {
    size_t n;
    const float *gradient; /* [n] */
    float *parameters, *moment1, *moment2;
};

/* The optimiser: PyTorch's Adam (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015),
 * with the weight decay of AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization",
 * 2019): each step first multiplies all parameters by 1 - learning_rate weight_decay. Performs step
 * number `step` (the first is 1) with the gradient times `scale`. Any split of the parameters into
 * slices gives the same bits. */
void cov_adam_step(const struct cov_adam *adam, int64_t step, double scale,
                   const struct cov_adam_slice *slice);

#endif
