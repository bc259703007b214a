/* shape.h - the hyperparameters of Predmoter's network (LitHybridNet), with their original names; the
 * layers of the network for a subsequence length, and the offset of each parameter.
 *
 * All parameters (and the norms' running statistics) are one block of floats with a table of names,
 * so that loading, saving and uploading are loops over one array.
 * SPDX-License-Identifier: MIT */
#ifndef COV_NET_SHAPE_H
#define COV_NET_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compute/device.h"

/* ---- hyperparameters ---- */

enum cov_model_type { COV_MODEL_CNN, COV_MODEL_HYBRID, COV_MODEL_BI_HYBRID };

struct cov_hparams {
    enum cov_model_type model_type;
    int64_t cnn_layers, filter_size, kernel_size, step, up, dilation;
    int64_t lstm_layers, hidden_size; /* unused by cnn */
    int64_t input_size, output_size;
    bool bnorm;
    double dropout;
};

/* The size of Predmoter's published models, with two outputs. */
extern const struct cov_hparams cov_hparams_published;

enum {
    COV_HPARAMS_MAX_LAYERS = 256,    /* limits of cnn_layers and of lstm_layers */
    COV_HPARAMS_MAX_REACH = 1 << 20, /* positions from a kernel's first to its last, inclusive */
    COV_HPARAMS_MAX_OUTPUTS = 10000, /* output_size */
};

/* "cnn", "hybrid", "bi-hybrid". */
const char *cov_model_type_name(enum cov_model_type type);
int cov_model_type_parse(const char *name, enum cov_model_type *out,
                         struct cov_err *e) COV_MUST_USE;

/* Checks all hyperparameters. The message of COV_EINPUT names the one that is out of range: sizes
 * below 1 (lstm_layers and hidden_size except for cnn), input_size other than 4, step 1 with an
 * even kernel, a step so large that the padding would be negative, dropout outside [0, 1), values
 * above the limits, or more than 2^31 parameters (found without overflow). */
int cov_hparams_check(const struct cov_hparams *hp, struct cov_err *e) COV_MUST_USE;

/* PyTorch's "padding" of the convolutions and of the transposed ones, and the "output_padding" of
 * the latter. With these, each convolution divides the length by step, and each transposed one
 * multiplies it. The paddings do not depend on the length. hp has passed cov_hparams_check. */
struct cov_paddings {
    int64_t conv, transposed, output;
};
struct cov_paddings cov_hparams_paddings(const struct cov_hparams *hp);

/* ---- parameters and layers ---- */

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
