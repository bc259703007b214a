/* hparams.h - the hyper-parameters of Predmoter's network (LitHybridNet), by its names.
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
    int64_t lstm_layers, hidden_size; /* without meaning for cnn */
    int64_t input_size, output_size;
    bool bnorm;
    double dropout;
};

/* "cnn", "hybrid", "bi-hybrid". */
const char *cov_model_type_name(enum cov_model_type type);
int cov_model_type_parse(const char *name, enum cov_model_type *out,
                         struct cov_err *e) COV_MUST_USE;

/* COV_EINPUT names the hyper-parameter that is out of range or makes no network: sizes below 1
 * (lstm_layers and hidden_size unless cnn), input_size other than 4, step 1 with an even kernel,
 * dropout outside [0, 1), more than 2^31 parameters (found without overflow). */
int cov_hparams_check(const struct cov_hparams *hp, struct cov_err *e) COV_MUST_USE;

#endif
