/* shape.h - the layers of the network for a subsequence length, and the offset of each parameter.
 *
 * All parameters (and the norms' running statistics) are one block of floats with a table of names,
 * so that loading, saving and uploading are loops over one array.
 * SPDX-License-Identifier: MIT */
#ifndef COV_NET_SHAPE_H
#define COV_NET_SHAPE_H

#include "common/compute/device.h"
#include "common/net/hparams.h"

struct cov_param {
    char name[64]; /* as in the state dict: "down_layer_list.0.weight" */
    size_t shape[3];
    int n_dims;
    size_t offset; /* in the block, floats */
    size_t n;      /* product of shape */
    bool trained;  /* false for running_mean and running_var */
};

struct cov_params {
    /* In the order of Predmoter's state dict, without num_batches_tracked. Owned. */
    struct cov_param *items;
    size_t n_items;
    size_t n_floats; /* size of the block */
};

/* Makes the table of a network; hp has passed cov_hparams_check. Free with cov_params_fini. */
int cov_params_init(const struct cov_hparams *hp, struct cov_params *out,
                    struct cov_err *e) COV_MUST_USE;
void cov_params_fini(struct cov_params *p);
const struct cov_param *cov_params_find(const struct cov_params *p,
                                        const char *name); /* NULL if there is none */

/* Sets PyTorch's initial values, from `seed`: uniform in +-1/sqrt(fan_in) (transposed convolution:
 * fan_in = c_out * kernel; LSTM: +-1/sqrt(hidden)); norms 1 and 0, statistics 0 and 1. */
void cov_params_randomize(const struct cov_hparams *hp, const struct cov_params *p, uint64_t seed,
                          float *block);

/* Owned. */
struct cov_layers {
    struct cov_layer *layers;          /* [n] */
    struct cov_layer_weights *weights; /* [n] */
    size_t n;
};

/* Makes the layers for chunks of L positions, with their weights as pointers into `block`
 * (n_floats; NULL: no weights). Returns COV_EINPUT if L is not a multiple of step^cnn_layers (the
 * message names the nearest lengths that are) or exceeds 2^40, if PyTorch's formulas for the
 * lengths do not give exactly 1/step and step times a layer's length, or if a layer has more than
 * 2^40 positions times channels. Free with cov_layers_fini. */
int cov_shape(const struct cov_hparams *hp, size_t L, const struct cov_params *p,
              const float *block, struct cov_layers *out, struct cov_err *e) COV_MUST_USE;
void cov_layers_fini(struct cov_layers *l);

#endif
