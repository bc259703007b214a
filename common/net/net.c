/* net.c - see net.h.
 * SPDX-License-Identifier: MIT */
#include "common/net/net.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/net/shape.h"

struct cov_net {
    struct cov_program **programs; /* [n] */
    size_t n;
    /* Of an ensemble, n > 1: */
    bool sd;
    size_t L, depth; /* outputs of a member */
    size_t max_values;
    float *values; /* [n_workers, n, max_values]: each member's values[max_batch, L, depth] */
};

/* Makes the first of n_left programs. */
static int new_program(struct cov_device *dev, const struct cov_net_member *m,
                       struct cov_net_size size, size_t n_left, struct cov_program **out,
                       struct cov_err *e)
{
    struct cov_params params = {0};
    struct cov_layers layers = {0};
    int rc = cov_hparams_check(m->hp, e);
    if (!rc)
        rc = cov_params_init(m->hp, &params, e);
    if (!rc)
        rc = cov_shape(m->hp, size.L, &params, m->block, &layers, e);
    if (!rc) {
        const struct cov_program_spec spec = {layers.layers,  layers.weights, layers.n,
                                              size.n_workers, size.max_batch, n_left};
        rc = dev->ops->program_new(dev, &spec, out, e);
    }
    cov_layers_fini(&layers);
    cov_params_fini(&params);
    return rc;
}

static int allocate_values(struct cov_net *net, struct cov_net_size size, struct cov_err *e)
{
    size_t n = net->n;
    if (n == 1)
        return COV_OK;
    if (cov_size_mul(size.max_batch, size.L, &net->max_values) ||
        cov_size_mul(net->max_values, net->depth, &net->max_values) ||
        cov_size_mul(n, net->max_values, &n) || cov_size_mul(n, size.n_workers, &n))
        return cov_fail(e, COV_ENOMEM, "a batch of %zu chunks is too large", size.max_batch);
    net->values = cov_malloc(n, sizeof *net->values, e);
    return net->values ? COV_OK : COV_ENOMEM;
}

int cov_net_new_ensemble(struct cov_device *dev, const struct cov_net_member *members, size_t n,
                         bool sd, struct cov_net_size size, struct cov_net **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_net *net = cov_calloc(1, sizeof *net, e);
    if (!net)
        return COV_ENOMEM;
    *net = (struct cov_net){.sd = sd, .L = size.L, .depth = (size_t)members[0].hp->output_size};
    net->programs = cov_calloc(n, sizeof *net->programs, e);
    int rc = net->programs ? COV_OK : COV_ENOMEM;
    for (; !rc && net->n < n; net->n += !rc)
        rc = new_program(dev, &members[net->n], size, n - net->n, &net->programs[net->n], e);
    if (!rc)
        rc = allocate_values(net, size, e);
    if (rc) {
        cov_net_free(net);
        return rc;
    }
    *out = net;
    return COV_OK;
}

int cov_net_new(struct cov_device *dev, const struct cov_hparams *hp, const float *block,
                struct cov_net_size size, struct cov_net **out, struct cov_err *e)
{
    return cov_net_new_ensemble(dev, &(struct cov_net_member){hp, block}, 1, false, size, out, e);
}

int cov_net_try(struct cov_device *dev, const struct cov_hparams *hp, const float *block, size_t L,
                unsigned n_workers, struct cov_err *e)
{
    struct cov_net *net;
    int rc = cov_net_new(dev, hp, block, (struct cov_net_size){L, n_workers, 1}, &net, e);
    cov_net_free(net);
    return rc;
}

void cov_net_free(struct cov_net *net)
{
    if (!net)
        return;
    for (size_t i = 0; i < net->n; i++)
        cov_program_free(net->programs[i]);
    free(net->programs);
    free(net->values);
    free(net);
}

void cov_net_compute_all(struct cov_net *net)
{
    for (size_t i = 0; i < net->n; i++)
        net->programs[i]->ops->compute_all(net->programs[i]);
}

void cov_net_counts(const struct cov_net *net, struct cov_forward_counts *out)
{
    *out = (struct cov_forward_counts){0};
    for (size_t i = 0; i < net->n; i++) {
        struct cov_forward_counts c;
        net->programs[i]->ops->counts(net->programs[i], &c);
        out->positions_computed += c.positions_computed;
        out->positions_at_rest += c.positions_at_rest;
        out->chunks_repeated += c.chunks_repeated;
    }
}

/* Sets out[n, outputs] to the means, and standard deviations if wanted, of `members`: [net->n] rows
 * of max_values, each with n * depth values. All of them pad the same positions. */
static void combine(const struct cov_net *net, const float *members, size_t n, float *out)
{
    const size_t D = net->depth, outputs = net->sd ? 2 * D : D;
    for (size_t i = 0; i < n * D; i++) {
        float *to = out + i / D * outputs + i % D;
        double sum = 0, squares = 0;
        for (size_t m = 0; m < net->n; m++)
            sum += (double)members[m * net->max_values + i];
        const double mean = sum / (double)net->n;
        *to = (float)mean;
        for (size_t m = 0; net->sd && m < net->n; m++) {
            double d = (double)members[m * net->max_values + i] - mean;
            squares += d * d;
        }
        if (net->sd)
            to[D] = members[i] == COV_PAD_VALUE ? COV_PAD_VALUE
                                                : (float)sqrt(squares / (double)(net->n - 1));
    }
}

/* Runs all members on n chunks: forward, or forward_edited if `edited` is not NULL. */
static int forward_members(struct cov_net *net, unsigned worker, size_t n, const uint8_t *codes,
                           const struct cov_edited_chunks *edited, float *values, struct cov_err *e)
{
    float *members = net->n == 1 ? values : net->values + worker * net->n * net->max_values;
    for (size_t i = 0; i < net->n; i++) {
        struct cov_program *p = net->programs[i];
        float *to = members + i * net->max_values;
        int rc = edited ? p->forward_edited(p, worker, edited, to, e)
                        : p->ops->forward(p, worker, n, codes, to, e);
        if (rc)
            return rc;
    }
    if (net->n > 1)
        combine(net, members, n * net->L, values);
    return COV_OK;
}

int cov_net_forward(struct cov_net *net, unsigned worker, size_t n, const uint8_t *codes,
                    float *values, struct cov_err *e)
{
    return forward_members(net, worker, n, codes, NULL, values, e);
}

bool cov_net_can_edit(const struct cov_net *net)
{
    for (size_t i = 0; i < net->n; i++)
        if (!net->programs[i]->forward_edited)
            return false;
    return true;
}

bool cov_net_edits_many(const struct cov_net *net)
{
    return net->programs[0]->edits_many; /* all are on one device */
}

int cov_net_forward_edited(struct cov_net *net, unsigned worker,
                           const struct cov_edited_chunks *chunks, float *values, struct cov_err *e)
{
    return forward_members(net, worker, chunks->n, NULL, chunks, values, e);
}

/* ---- gradients ---- */

struct cov_explainer {
    struct cov_training *training;
};

/* Makes the network and loads its parameters. */
static int make_explainer(struct cov_explainer *x, struct cov_device *dev,
                          const struct cov_explainer_options *o, const struct cov_params *params,
                          struct cov_err *e)
{
    struct cov_layers layers = {0};
    int rc = cov_shape(o->hp, o->L, params, o->block, &layers, e);
    const struct cov_training_spec spec = {.layers = layers.layers,
                                           .weights = layers.weights,
                                           .n_layers = layers.n,
                                           .block = o->block,
                                           .n_floats = params->n_floats,
                                           .max_batch = o->max_batch,
                                           .explain = true,
                                           .pool = o->pool};
    if (rc == COV_OK)
        rc = dev->ops->training_new(dev, &spec, &x->training, e);
    cov_layers_fini(&layers);
    if (rc)
        return rc;
    if (!x->training->gradients || !x->training->gradients->explain)
        return cov_fail(e, COV_EUNSUPPORTED, "device %s does not compute gradients of bases",
                        dev->ops->name);
    return x->training->gradients->load(x->training, e);
}

int cov_explainer_new(struct cov_device *dev, const struct cov_explainer_options *options,
                      struct cov_explainer **out, struct cov_err *e)
{
    struct cov_params params = {0};
    *out = NULL;
    if (!dev->ops->training_new)
        return cov_fail(e, COV_EUNSUPPORTED, "device %s does not compute gradients",
                        dev->ops->name);
    struct cov_explainer *x = cov_calloc(1, sizeof *x, e);
    int rc = x ? cov_params_init(options->hp, &params, e) : COV_ENOMEM;
    if (rc == COV_OK)
        rc = make_explainer(x, dev, options, &params, e);
    cov_params_fini(&params);
    if (rc)
        cov_explainer_free(x);
    else
        *out = x;
    return rc;
}

void cov_explainer_free(struct cov_explainer *x)
{
    if (!x)
        return;
    cov_training_free(x->training);
    free(x);
}

int cov_explainer_run(struct cov_explainer *x, const struct cov_explain_batch *batch, double *sums,
                      float *gradient, struct cov_err *e)
{
    return x->training->gradients->explain(x->training, batch, sums, gradient, e);
}
