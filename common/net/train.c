/* train.c - see train.h. The device computes gradients; parameters, moments and steps are here,
 * unless the device keeps them, too.
 * SPDX-License-Identifier: MIT */
#include "common/net/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* Parameters per item of the pool's work in a step. */
enum { SLICE = 1 << 16 };

struct cov_trainer {
    struct cov_training *training;
    struct cov_train_reduce reduce;
    struct cov_pool *pool;
    struct cov_params params;
    /* [n_floats] each. If the device keeps them, only the block is allocated, with initial
     * values. */
    float *block, *moment1, *moment2, *average;
    float *gradient; /* gradient of the last batch */
    float *sum;      /* sum of the gradients since the last step */
    double *shared;  /* the sum, to reduce; NULL: only one process */
    bool averages;   /* average differs from the parameters */
    bool loaded;     /* the device has the current parameters */
    size_t n_batches;
    int64_t n_steps;
    /* Items of a step: pieces of the trained parameters, in order. */
    struct slice {
        size_t beg, n;
        double squares; /* sum of squares of the gradient */
    } * slices;
    size_t n_slices;
    /* During a step: */
    const struct cov_adam *adam;
    double scale;
};

/* Lists the slices; with NULL, only counts them. */
static size_t list_slices(const struct cov_params *params, const bool *frozen, struct slice *out)
{
    size_t n = 0;
    for (size_t k = 0; k < params->n_items; k++) {
        const struct cov_param *p = &params->items[k];
        bool changes = p->trained && !(frozen && frozen[k]);
        for (size_t at = 0; changes && at < p->n; at += SLICE, n++)
            if (out)
                out[n] = (struct slice){p->offset + at, p->n - at < SLICE ? p->n - at : SLICE, 0};
    }
    return n;
}

/* Arrays that the device does not keep. */
static int make_arrays(struct cov_trainer *t, const bool *frozen, struct cov_err *e)
{
    size_t n = t->params.n_floats;
    float **arrays[] = {&t->moment1, &t->moment2, &t->average, &t->gradient, &t->sum};
    for (size_t i = 0; i < COV_COUNT(arrays); i++) {
        *arrays[i] = cov_calloc64(n, sizeof(float), e);
        if (!*arrays[i])
            return COV_ENOMEM;
    }
    memcpy(t->average, t->block, n * sizeof *t->average);
    t->n_slices = list_slices(&t->params, frozen, NULL);
    t->slices = cov_calloc(t->n_slices, sizeof *t->slices, e);
    if (t->slices)
        (void)list_slices(&t->params, frozen, t->slices);
    if (t->reduce.fn)
        t->shared = cov_calloc(n, sizeof *t->shared, e);
    return t->slices && (t->shared || !t->reduce.fn) ? COV_OK : COV_ENOMEM;
}

/* Returns frozen[n_floats] of a spec, or NULL without memory. Caller frees. */
static uint8_t *list_frozen(const struct cov_params *params, const bool *frozen, struct cov_err *e)
{
    uint8_t *list = cov_calloc(params->n_floats, sizeof *list, e);
    for (size_t k = 0; list && k < params->n_items; k++)
        if (frozen[k])
            memset(list + params->items[k].offset, 1, params->items[k].n);
    return list;
}

/* Returns the first layer with a parameter that is not frozen, or the last layer. */
static size_t find_first_trained(const struct cov_training_spec *spec)
{
    size_t i = 0;
    for (; spec->frozen && i + 1 < spec->n_layers; i++) {
        const struct cov_layer_weights *w = &spec->weights[i];
        const float *const trained[] = {w->weight,  w->bias,    w->gamma,   w->beta,
                                        w->w_ih[0], w->w_ih[1], w->w_hh[0], w->w_hh[1],
                                        w->b_ih[0], w->b_ih[1], w->b_hh[0], w->b_hh[1]};
        for (size_t k = 0; k < COV_COUNT(trained); k++)
            if (trained[k] && !spec->frozen[trained[k] - spec->block])
                return i;
    }
    return i;
}

static int make_training(struct cov_trainer *t, struct cov_device *dev,
                         const struct cov_trainer_options *options, struct cov_err *e)
{
    struct cov_layers layers;
    struct cov_training_spec spec = {.block = t->block,
                                     .n_floats = t->params.n_floats,
                                     .max_batch = options->max_batch,
                                     .dropout = options->hp->dropout,
                                     .seed = options->seed,
                                     .loss_weights = options->loss_weights,
                                     .recompute = options->recompute,
                                     .reduce = options->reduce,
                                     .pool = options->pool};
    int rc = cov_shape(options->hp, options->L, &t->params, t->block, &layers, e);
    uint8_t *frozen = NULL;
    spec.layers = layers.layers;
    spec.weights = layers.weights;
    spec.n_layers = layers.n;
    if (rc == COV_OK && options->frozen) {
        spec.frozen = frozen = list_frozen(&t->params, options->frozen, e);
        spec.first_trained = frozen ? find_first_trained(&spec) : 0;
        rc = frozen ? COV_OK : COV_ENOMEM;
    }
    if (rc == COV_OK)
        rc = dev->ops->training_new(dev, &spec, &t->training, e);
    free(frozen);
    cov_layers_fini(&layers);
    return rc;
}

int cov_trainer_new(struct cov_device *dev, const struct cov_trainer_options *options,
                    const float *block, struct cov_trainer **out, struct cov_err *e)
{
    *out = NULL;
    if (!dev->ops->training_new)
        return cov_fail(e, COV_EUNSUPPORTED, "device %s cannot train", dev->ops->name);
    int rc = cov_hparams_check(options->hp, e);
    if (rc)
        return rc;
    struct cov_trainer *t = cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    t->reduce = options->reduce;
    t->pool = options->pool;
    rc = cov_params_init(options->hp, &t->params, e);
    if (rc == COV_OK) {
        t->block = cov_calloc64(t->params.n_floats, sizeof *t->block, e);
        rc = t->block ? COV_OK : COV_ENOMEM;
    }
    if (rc == COV_OK) {
        memcpy(t->block, block, t->params.n_floats * sizeof *block);
        rc = make_training(t, dev, options, e);
    }
    if (rc == COV_OK && !t->training->resident)
        rc = make_arrays(t, options->frozen, e);
    if (rc) {
        cov_trainer_free(t);
        return rc;
    }
    *out = t;
    return COV_OK;
}

void cov_trainer_free(struct cov_trainer *t)
{
    if (!t)
        return;
    cov_training_free(t->training);
    cov_params_fini(&t->params);
    free(t->block);
    free(t->moment1);
    free(t->moment2);
    free(t->average);
    free(t->gradient);
    free(t->sum);
    free(t->shared);
    free(t->slices);
    free(t);
}

/* ---- a batch ---- */

/* Updates the running statistics, and adds the gradients; the gradients of a step's first batch are
 * swapped in. */
static void take_gradient(struct cov_trainer *t)
{
    for (size_t k = 0; k < t->params.n_items; k++) {
        const struct cov_param *p = &t->params.items[k];
        const float *from = t->gradient + p->offset;
        float *sum = t->sum + p->offset, *statistic = t->block + p->offset;
        for (size_t i = 0; !p->trained && i < p->n; i++)
            statistic[i] += COV_TRAIN_MOMENTUM * (from[i] - statistic[i]);
        for (size_t i = 0; p->trained && t->n_batches > 0 && i < p->n; i++)
            sum[i] += from[i];
    }
    if (t->n_batches == 0) {
        float *sum = t->sum;
        t->sum = t->gradient;
        t->gradient = sum;
    }
}

int cov_trainer_batch(struct cov_trainer *t, const struct cov_train_batch *batch,
                      struct cov_train_score *score, struct cov_err *e)
{
    int rc = COV_OK;
    if (t->training->resident)
        return t->training->resident->add(t->training, batch, score, e);
    if (!t->loaded)
        rc = t->training->gradients->load(t->training, e);
    if (rc)
        return rc;
    t->loaded = true;
    rc = t->training->gradients->run(t->training, (uint64_t)t->n_steps, batch, t->gradient, score,
                                     e);
    if (rc)
        return rc;
    take_gradient(t);
    t->n_batches++;
    return COV_OK;
}

/* ---- a step ---- */

void cov_adam_step(const struct cov_adam *adam, int64_t step, double scale,
                   const struct cov_adam_slice *slice)
{
    const size_t n = slice->n;
    const float *restrict g = slice->gradient;
    float *restrict p = slice->parameters, *restrict m = slice->moment1;
    float *restrict v = slice->moment2;
    double correction1 = 1 - pow(adam->beta1, (double)step);
    double correction2 = 1 - pow(adam->beta2, (double)step);
    float beta2 = (float)adam->beta2, rest1 = (float)(1 - adam->beta1);
    float rest2 = (float)(1 - adam->beta2), by = (float)scale, eps = (float)adam->eps;
    float rate = (float)(adam->learning_rate / correction1);
    float root = (float)sqrt(correction2);
    float keep = (float)(1 - adam->learning_rate * adam->weight_decay); /* 1: no change */
    for (size_t i = 0; i < n; i++) {
        float d = g[i] * by;
        m[i] += rest1 * (d - m[i]);
        v[i] = beta2 * v[i] + rest2 * (d * d);
        p[i] = p[i] * keep - rate * (m[i] / (sqrtf(v[i]) / root + eps));
    }
}

/* Replaces v by its sum over all processes. */
static int share_gradient(struct cov_trainer *t, struct cov_err *e)
{
    size_t n = t->params.n_floats;
    if (!t->reduce.fn)
        return COV_OK;
    for (size_t i = 0; i < n; i++)
        t->shared[i] = (double)t->sum[i];
    int rc = t->reduce.fn(t->reduce.arg, t->shared, n, e);
    for (size_t i = 0; rc == COV_OK && i < n; i++)
        t->sum[i] = (float)t->shared[i];
    return rc;
}

static int square_slice(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_trainer *t = arg;
    struct slice *s = &t->slices[item];
    double sum = 0;
    for (size_t i = s->beg; i < s->beg + s->n; i++)
        sum += (double)t->sum[i] * (double)t->sum[i];
    s->squares = sum;
    return COV_OK;
}

/* Sets *norm to the gradient's norm, before `scale`. */
static int measure_gradient(struct cov_trainer *t, double *norm, struct cov_err *e)
{
    double sum = 0;
    int rc = cov_pool_for(t->pool, t->n_slices, square_slice, t, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < t->n_slices; i++)
        sum += t->slices[i].squares;
    *norm = sqrt(sum);
    return isfinite(sum) ? COV_OK : cov_fail(e, COV_EINPUT, "the gradient is not finite");
}

static int step_slice(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_trainer *t = arg;
    const struct slice *s = &t->slices[item];
    const struct cov_adam_slice slice = {s->n, t->sum + s->beg, t->block + s->beg,
                                         t->moment1 + s->beg, t->moment2 + s->beg};
    cov_adam_step(t->adam, t->n_steps + 1, t->scale, &slice);
    return COV_OK;
}

/* Updates the moving average, which starts as a copy of the parameters. */
static void take_average(struct cov_trainer *t, double keep)
{
    size_t n = t->params.n_floats;
    float rest = (float)(1 - keep);
    if (keep <= 0)
        return;
    if (!t->averages)
        memcpy(t->average, t->block, n * sizeof *t->average);
    for (size_t i = 0; t->averages && i < n; i++)
        t->average[i] += rest * (t->block[i] - t->average[i]);
    t->averages = true;
}

int cov_trainer_step(struct cov_trainer *t, const struct cov_adam *adam, struct cov_err *e)
{
    double norm;
    if (t->training->resident)
        return t->training->resident->step(t->training, adam, e);
    if (t->n_batches == 0)
        return cov_fail(e, COV_EUSAGE, "no batch before the step");
    t->adam = adam;
    t->scale = 1 / (double)t->n_batches;
    t->n_batches = 0;
    int rc = share_gradient(t, e);
    if (rc == COV_OK)
        rc = measure_gradient(t, &norm, e);
    if (rc)
        return rc;
    norm *= t->scale;
    if (adam->clip > 0 && norm + COV_CLIP_EPS > adam->clip) {
        t->scale *= adam->clip / (norm + COV_CLIP_EPS);
        norm = adam->clip;
    }
    if (norm > COV_TRAIN_MAX_NORM)
        return cov_fail(e, COV_EINPUT, "the gradient is too large: norm %g", norm);
    t->loaded = false;
    rc = cov_pool_for(t->pool, t->n_slices, step_slice, t, e);
    t->n_steps++;
    take_average(t, adam->average);
    return rc;
}

/* ---- state ---- */

int cov_trainer_read(struct cov_trainer *t, struct cov_train_state *state, struct cov_err *e)
{
    size_t bytes = t->params.n_floats * sizeof(float);
    if (t->training->resident)
        return t->training->resident->read(t->training, state, e);
    if (state->block)
        memcpy(state->block, t->block, bytes);
    if (state->moment1)
        memcpy(state->moment1, t->moment1, bytes);
    if (state->moment2)
        memcpy(state->moment2, t->moment2, bytes);
    if (state->average)
        memcpy(state->average, t->averages ? t->average : t->block, bytes);
    state->n_steps = t->n_steps;
    return COV_OK;
}

int cov_trainer_write(struct cov_trainer *t, const struct cov_train_state *state, struct cov_err *e)
{
    size_t bytes = t->params.n_floats * sizeof(float);
    if (t->training->resident)
        return t->training->resident->write(t->training, state, e);
    if (state->block)
        memcpy(t->block, state->block, bytes);
    if (state->moment1)
        memcpy(t->moment1, state->moment1, bytes);
    if (state->moment2)
        memcpy(t->moment2, state->moment2, bytes);
    if (state->average)
        memcpy(t->average, state->average, bytes);
    t->averages = t->averages || state->average;
    t->n_steps = state->n_steps;
    t->n_batches = 0;
    t->loaded = false;
    return COV_OK;
}
