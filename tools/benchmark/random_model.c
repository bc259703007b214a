/* random_model.c - see random_model.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/random_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/ckpt/ckpt.h"
#include "common/job/predict/model.h"
#include "common/net/shape.h"

const struct cov_hparams cov_combined_size = {.model_type = COV_MODEL_BI_HYBRID,
                                              .cnn_layers = 3,
                                              .filter_size = 64,
                                              .kernel_size = 9,
                                              .step = 2,
                                              .up = 2,
                                              .dilation = 1,
                                              .lstm_layers = 2,
                                              .hidden_size = 128,
                                              .input_size = 4,
                                              .output_size = 2,
                                              .bnorm = true};

enum { CHUNK = 21384 };
#define LEARNING_RATE 0.001

static int add_hparams(struct cov_ckpt *c, const struct cov_hparams *hp, struct cov_err *e)
{
    size_t n = (size_t)hp->output_size;
    char(*names)[32] = cov_calloc(n, sizeof *names, e);
    const char **list = cov_calloc(n, sizeof *list, e);
    int rc = names && list ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < n && !rc; i++) {
        (void)snprintf(names[i], sizeof names[i], "random%zu", i + 1);
        list[i] = names[i];
    }
    if (!rc)
        rc = cov_model_add_hparams(c, hp, CHUNK, LEARNING_RATE, list, e);
    free(list);
    free(names);
    return rc;
}

static int add_weights(struct cov_ckpt *c, const struct cov_hparams *hp, uint64_t seed,
                       struct cov_err *e)
{
    struct cov_params params = {0};
    int rc = cov_params_init(hp, &params, e);
    if (rc)
        return rc;
    float *block = cov_malloc(params.n_floats, sizeof *block, e);
    rc = block ? COV_OK : COV_ENOMEM;
    if (!rc)
        cov_params_randomize(hp, &params, seed, block);
    for (size_t i = 0; i < params.n_items && !rc; i++) {
        const struct cov_param *p = &params.items[i];
        struct cov_torch_tensor *t;
        int64_t shape[3];
        for (int d = 0; d < p->n_dims; d++)
            shape[d] = (int64_t)p->shape[d];
        rc = cov_ckpt_add_tensor(c, p->name, COV_TORCH_FLOAT32, p->n_dims, shape, &t, e);
        if (!rc)
            memcpy(t->f32, block + p->offset, p->n * sizeof *block);
    }
    free(block);
    cov_params_fini(&params);
    return rc;
}

int cov_random_model_write(const char *path, const struct cov_hparams *hp, uint64_t seed,
                           struct cov_err *e)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    int rc = cov_ckpt_set_version(&c, "2.0.2", e);
    if (!rc)
        rc = add_hparams(&c, hp, e);
    if (!rc)
        rc = add_weights(&c, hp, seed, e);
    if (!rc)
        rc = cov_ckpt_write(path, &c, e);
    cov_ckpt_fini(&c);
    return rc;
}
