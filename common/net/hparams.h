/* hparams.h - the hyperparameters of Predmoter's network (LitHybridNet), with their original names.
 * SPDX-License-Identifier: MIT */
#ifndef COV_NET_HPARAMS_H
#define COV_NET_HPARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

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

#endif
