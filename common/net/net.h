/* net.h - a network, or an ensemble of networks, ready to run on a device; and the gradients of what
 * a network predicts.
 * SPDX-License-Identifier: MIT */
#ifndef COV_NET_NET_H
#define COV_NET_NET_H

#include <stdbool.h>

#include "common/compute/device.h"
#include "common/net/shape.h"

struct cov_net;

struct cov_net_size {
    size_t L;           /* positions of a chunk */
    unsigned n_workers; /* callers at a time */
    size_t max_batch;   /* chunks per call */
};

/* Prepares the network with the parameters in `block` (shape.h; borrowed for the call) on `dev`
 * (borrowed until free). */
int cov_net_new(struct cov_device *dev, const struct cov_hparams *hp, const float *block,
                struct cov_net_size size, struct cov_net **out, struct cov_err *e) COV_MUST_USE;

/* A network of an ensemble. All have the same output_size. */
struct cov_net_member {
    const struct cov_hparams *hp;
    const float *block;
};

/* Like cov_net_new, for the means of what n networks predict: outputs 0 to output_size - 1. With
 * `sd`, n is at least 2, and output_size more outputs are their standard deviations:
 * sqrt(sum((x - mean)^2) / (n - 1)). Both are computed in double precision. */
int cov_net_new_ensemble(struct cov_device *dev, const struct cov_net_member *members, size_t n,
                         bool sd, struct cov_net_size size, struct cov_net **out,
                         struct cov_err *e) COV_MUST_USE;

/* Checks that the device can run the network, with one chunk per call. A device that can be
 * replaced (cov_device_open_auto) is replaced now, before its advice on batches and threads is
 * used. */
int cov_net_try(struct cov_device *dev, const struct cov_hparams *hp, const float *block, size_t L,
                unsigned n_workers, struct cov_err *e) COV_MUST_USE;
/* Makes forward compute every position (device.h); call it before the first forward. */
void cov_net_compute_all(struct cov_net *net);
void cov_net_free(struct cov_net *net); /* NULL is accepted */
/* Returns the work so far, of all members; call it only while no forward is running. */
void cov_net_counts(const struct cov_net *net, struct cov_forward_counts *out);

/* Sets values[n,L,outputs] to exp(output) for codes[n,L], or to COV_PAD_VALUE on padding.
 * n <= max_batch, worker < n_workers. */
int cov_net_forward(struct cov_net *net, unsigned worker, size_t n, const uint8_t *codes,
                    float *values, struct cov_err *e) COV_MUST_USE;

/* Returns true if cov_net_forward_edited works: if all members have forward_edited (device.h). */
bool cov_net_can_edit(const struct cov_net *net);
/* Returns true if cov_net_forward is faster than that for few edited chunks of the same originals. */
bool cov_net_edits_many(const struct cov_net *net);
/* Sets values[chunks->n,L,outputs] at the wanted positions of edited chunks, as forward_edited. */
int cov_net_forward_edited(struct cov_net *net, unsigned worker,
                           const struct cov_edited_chunks *chunks, float *values,
                           struct cov_err *e) COV_MUST_USE;

/* ---- the gradients of what a network predicts with respect to its inputs ---- */

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
