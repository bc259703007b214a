/* bench_net.c - the network to measure: a checkpoint, or random weights.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/ckpt/ckpt.h"
#include "common/input/model.h"
#include "tools/benchmark/child.h"

enum { CHUNK_LENGTH = 21384 };
#define LEARNING_RATE 0.001

int bench_net_init(const struct cov_hparams *hp, struct bench_net *out, struct cov_err *e)
{
    struct cov_params params = {0};
    *out = (struct bench_net){.hp = *hp};
    int rc = cov_params_init(hp, &params, e);
    if (rc)
        return rc;
    out->label = cov_strdup("random weights, of the published size", e);
    out->block = cov_calloc64(params.n_floats, sizeof *out->block, e);
    if (out->block)
        cov_params_randomize(hp, &params, BENCH_SEED, out->block);
    cov_params_fini(&params);
    return out->label && out->block ? COV_OK : COV_ENOMEM;
}

int bench_net_open(const char *path, struct bench_net *out, struct cov_err *e)
{
    struct cov_model *model;
    struct cov_hparams published = cov_hparams_published;
    *out = (struct bench_net){0};
    published.dropout = 0;
    if (strcmp(path, BENCH_NET_COMBINED) == 0)
        return bench_net_init(&published, out, e);
    int rc = cov_model_open(path, &model, e);
    if (rc)
        return rc;
    out->hp = model->hp;
    out->block = model->block;
    out->label = cov_strdup(model->description, e);
    out->trained = true;
    model->block = NULL;
    cov_model_close(model);
    return out->label ? COV_OK : COV_ENOMEM;
}

int bench_net_open_demo(struct bench_net *out, struct cov_err *e)
{
    char *path;
    *out = (struct bench_net){0};
    int rc = child_find_data("demo/plant.ckpt", &path, e);
    if (!rc && path)
        rc = bench_net_open(path, out, e);
    free(path);
    return rc;
}

void bench_net_close(struct bench_net *n)
{
    free(n->block);
    free(n->label);
    *n = (struct bench_net){0};
}

/* ---------------------------------------------------------------- as a checkpoint */

int bench_net_write_random(const char *path, struct cov_err *e)
{
    static const char *names[] = {"random1", "random2"};
    struct cov_ckpt c = COV_CKPT_INIT;
    struct cov_params params = {0};
    struct bench_net net;
    int rc = bench_net_open(BENCH_NET_COMBINED, &net, e);
    if (!rc)
        rc = cov_ckpt_set_version(&c, "2.0.2", e);
    if (!rc)
        rc = cov_model_add_hparams(&c, &net.hp, CHUNK_LENGTH, LEARNING_RATE, names, e);
    if (!rc)
        rc = cov_params_init(&net.hp, &params, e);
    if (!rc)
        rc = cov_model_add_tensors(&c, &params, net.block, 1, e);
    if (!rc)
        rc = cov_ckpt_write(path, &c, e);
    cov_params_fini(&params);
    cov_ckpt_fini(&c);
    bench_net_close(&net);
    return rc;
}

/* ---------------------------------------------------------------- operations */

double bench_layer_operations(const struct cov_layer *l)
{
    double t_in = (double)l->t_in, t_out = (double)l->t_out;
    double in = (double)l->c_in, out = (double)l->c_out, hidden = (double)l->hidden;
    switch (l->kind) {
    case COV_LAYER_CONV:
        return 2 * t_out * in * out * (double)l->kernel;
    case COV_LAYER_CONV_TRANSPOSED:
        return 2 * t_in * in * out * (double)l->kernel;
    case COV_LAYER_LSTM:
        return 2 * t_in * 4 * hidden * (in + hidden) * (double)l->directions;
    default:
        return 2 * t_out * in * out;
    }
}

int bench_net_operations(const struct bench_net *n, size_t L, double *operations, struct cov_err *e)
{
    struct cov_params params = {0};
    struct cov_layers layers = {0};
    int rc = cov_params_init(&n->hp, &params, e);
    if (!rc)
        rc = cov_shape(&n->hp, L, &params, n->block, &layers, e);
    *operations = 0;
    for (size_t i = 0; i < layers.n && !rc; i++)
        *operations += bench_layer_operations(&layers.layers[i]);
    cov_layers_fini(&layers);
    cov_params_fini(&params);
    return rc;
}
