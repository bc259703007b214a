/* training.c - see training.h. The whole batch finishes a layer before the next layer
 * starts, because a norm needs all of it. Activations are [n, T, c] between convolutions, and
 * [T, n, c] before and after LSTMs.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/train/training.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/seq/alphabet.h"

enum {
    PIECE = 192 * 1024, /* approximate size of a piece in floats */
    BLOCK = 144,        /* rows of whole blocks of tiles (toom_cook.c), whether tiles have four rows
                         * or six */
};

/* ---- making ---- */

/* Splits a layer's output into pieces of whole blocks of tiles and whole units (plan.h). */
static struct cov_pieces pieces_of(const struct cov_layer *l)
{
    size_t unit = BLOCK * (l->kind == COV_LAYER_CONV_TRANSPOSED ? l->stride : 1);
    size_t rows = (PIECE / l->c_out + unit) / unit * unit;
    return (struct cov_pieces){(l->t_out + rows - 1) / rows, rows, l->t_out};
}

/* The gradient of a convolution's input is computed from the gradient of its sums by the transposed
 * convolution with the same weights, and vice versa. */
static struct cov_layer back_of(const struct cov_layer *l)
{
    struct cov_layer back = *l;
    back.kind = l->kind == COV_LAYER_CONV ? COV_LAYER_CONV_TRANSPOSED : COV_LAYER_CONV;
    back.t_in = l->t_out;
    back.c_in = l->c_out;
    back.t_out = l->t_in;
    back.c_out = l->c_in;
    back.norm = false;
    return back;
}

/* Makes what a convolution needs in addition to activations. */
static int make_conv(struct cov_cpu_training *t, size_t i, struct cov_err *e)
{
    struct cov_train_layer *s = &t->layers[i];
    size_t c = s->layer.c_out, n = t->spec.max_batch;
    bool failed = false;
    s->norm = s->layer.norm;
    s->operands = cov_cpu_arithmetic_of(&t->arithmetic, &s->layer, i + 2 == t->n_layers);
    if (s->operands == COV_BF16X3) /* only predictions join rows */
        s->operands = COV_FP32;
    s->outer = cov_cpu_outer(&t->arithmetic, &s->layer, s->operands);
    s->back = back_of(&s->layer);
    if (t->kernels.minimal && cov_train_toom_cook_pays(&s->layer, s->outer->arithmetic) &&
        cov_train_toom_cook_new(&s->layer, t->kernels.minimal, &s->minimal, e))
        return COV_ENOMEM;
    s->pieces = pieces_of(&s->layer);
    s->back_pieces = pieces_of(&s->back);
    float **arrays[] = {&s->mean, &s->rstd, &s->scale, &s->shift, &s->by_d, &s->by_r, &s->by_one};
    for (size_t a = 0; a < COV_COUNT(arrays); a++)
        *arrays[a] = cov_train_array(t, c, &failed, e);
    s->sums = cov_calloc(n * s->pieces.n, 2 * c * sizeof *s->sums, e);
    s->total = cov_calloc(2 * c + 1, sizeof *s->total, e);
    return failed || !s->sums || !s->total ? COV_ENOMEM : COV_OK;
}

static int make_lstm(struct cov_cpu_training *t, size_t i, struct cov_err *e)
{
    struct cov_train_layer *s = &t->layers[i];
    bool failed = false;
    s->drops = t->spec.dropout > 0 && cov_train_is_lstm(t, i + 1);
    s->outer = cov_cpu_outer(&t->arithmetic, &s->layer, t->arithmetic.lstm);
    s->gemm = cov_cpu_lstm_gemm(&t->arithmetic, &s->layer);
    s->bias = cov_train_array(t, s->layer.directions * 4 * s->layer.hidden, &failed, e);
    return failed ? COV_ENOMEM : COV_OK;
}

static int make_layers(struct cov_cpu_training *t, const struct cov_training_spec *spec,
                       struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; i < t->n_layers; i++) {
        t->layers[i].layer = spec->layers[i];
        t->layers[i].weights = spec->weights[i];
    }
    for (size_t i = 0; rc == COV_OK && i + 1 < t->n_layers; i++)
        rc = cov_train_is_lstm(t, i) ? make_lstm(t, i, e) : make_conv(t, i, e);
    return rc ? rc : cov_train_make_activations(t, e);
}

static void free_layer(struct cov_train_layer *s)
{
    cov_conv_free(s->forward);
    cov_conv_free(s->backward);
    cov_train_toom_cook_free(s->minimal);
    for (size_t d = 0; d < 2; d++) {
        cov_matrix_fini(&s->w_ih[d]);
        cov_matrix_fini(&s->w_hh[d]);
        cov_matrix_fini(&s->back_ih[d]);
        cov_matrix_fini(&s->back_hh[d]);
    }
    free(s->sums);
    free(s->total);
}

static void free_training(struct cov_training *base)
{
    struct cov_cpu_training *t = (struct cov_cpu_training *)base;
    for (size_t i = 0; t->layers && i < t->n_layers; i++)
        free_layer(&t->layers[i]);
    for (size_t i = 0; t->scratch && i < t->n_workers; i++)
        free(t->scratch[i]);
    free(t->layers);
    free(t->loss_weights);
    free(t->scores);
    free(t->linear_sums);
    free(t->scratch);
    for (size_t i = 0; i < t->n_arrays; i++)
        free(t->arrays[i]);
    free(t->arrays);
    free(t);
}

/* ---- loading ---- */

static int pack_one(void *arg, size_t i, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct cov_cpu_training *t = arg;
    if (t->layers[i].layer.kind == COV_LAYER_LINEAR_EXP)
        return COV_OK;
    return cov_train_is_lstm(t, i) ? cov_train_lstm_pack(t, i, e) : cov_train_conv_pack(t, i, e);
}

/* The size is known only once the layers are packed. */
static int make_scratch(struct cov_cpu_training *t, struct cov_err *e)
{
    size_t size = (size_t)COV_TRAIN_TILE_ROWS * COV_TRAIN_TILE_COLUMNS;
    for (size_t i = 0; i + 1 < t->n_layers; i++)
        size = cov_size_max(size, cov_train_is_lstm(t, i) ? cov_train_lstm_scratch(t, i)
                                                          : cov_train_conv_scratch(t, i));
    for (size_t i = 0; i < t->n_workers; i++) {
        t->scratch[i] = cov_calloc64(size, sizeof(float), e);
        if (!t->scratch[i])
            return COV_ENOMEM;
    }
    t->scratch_size = size;
    return COV_OK;
}

static int load(struct cov_training *base, struct cov_err *e)
{
    struct cov_cpu_training *t = (struct cov_cpu_training *)base;
    int rc = cov_pool_for(t->spec.pool, t->n_layers, pack_one, t, e);
    return rc == COV_OK && t->scratch_size == 0 ? make_scratch(t, e) : rc;
}

/* ---- running ---- */

static int one_hot(void *arg, size_t b, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_cpu_training *t = arg;
    size_t L = t->layers[0].layer.t_in;
    const uint8_t *codes = t->batch->codes + b * L;
    float *x = t->onehot + b * L * 4;
    for (size_t i = 0; i < L; i++)
        memcpy(x + 4 * i, cov_onehot_f32[codes[i] & 15], 4 * sizeof *x);
    return COV_OK;
}

/* With spec.recompute: y after a norm is in `d` until the next layer has read it. */
static void begin_forward(struct cov_cpu_training *t)
{
    for (size_t i = 0; i + 2 < t->n_layers; i++)
        if (t->layers[i].norm)
            t->layers[i].y = t->d;
}

/* Runs the layers before the last one, from t->onehot. */
static int forward(struct cov_cpu_training *t, struct cov_err *e)
{
    int rc = COV_OK;
    if (t->spec.recompute)
        begin_forward(t);
    for (size_t i = 0; rc == COV_OK && i + 1 < t->n_layers; i++) {
        t->layer = i;
        rc = cov_train_is_lstm(t, i) ? cov_train_lstm_forward(t, e) : cov_train_conv_forward(t, e);
    }
    return rc;
}

/* With spec.recompute: computes what the backward pass of layer i needs. */
static int recompute(struct cov_cpu_training *t, size_t i, struct cov_err *e)
{
    bool lstm = cov_train_is_lstm(t, i);
    /* The last of the first convolutions. */
    bool from_input =
        t->layers[i].layer.kind == COV_LAYER_CONV && t->layers[i + 1].layer.kind != COV_LAYER_CONV;
    int rc = COV_OK;
    for (size_t k = from_input || i == 0 ? 0 : i - 1;
         rc == COV_OK && k < i && !cov_train_is_lstm(t, k); k++) {
        if (t->layers[k].norm)
            t->layers[k].y = lstm ? t->again_lstm : t->again;
        rc = cov_train_conv_again(t, k, from_input, e);
    }
    t->layer = i;
    return rc || !lstm ? rc : cov_train_lstm_again(t, e);
}

/* The gradient of a layer's input replaces that of its output; begins with that of the last
 * layer's input. */
static int backward(struct cov_cpu_training *t, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = t->n_layers - 1; rc == COV_OK && i-- > t->spec.first_trained;) {
        if (t->spec.recompute)
            rc = recompute(t, i, e);
        t->layer = i;
        if (rc == COV_OK)
            rc = cov_train_is_lstm(t, i) ? cov_train_lstm_backward(t, e)
                                         : cov_train_conv_backward(t, e);
    }
    return rc;
}

static int run(struct cov_training *base, uint64_t step, const struct cov_train_batch *batch,
               float *gradient, struct cov_train_score *score, struct cov_err *e)
{
    struct cov_cpu_training *t = (struct cov_cpu_training *)base;
    t->batch = batch;
    t->gradient = gradient;
    t->step = step;
    memset(gradient, 0, t->spec.n_floats * sizeof *gradient);
    int rc = cov_pool_for(t->spec.pool, batch->n, one_hot, t, e);
    if (rc == COV_OK)
        rc = forward(t, e);
    if (rc == COV_OK)
        rc = cov_train_score_batch(t, score, e);
    if (rc || score->n_rows == 0)
        return rc;
    rc = cov_train_loss_backward(t, e);
    return rc ? rc : backward(t, e);
}

static int explain(struct cov_training *base, const struct cov_explain_batch *explained,
                   double *sums, float *gradient, struct cov_err *e)
{
    struct cov_cpu_training *t = (struct cov_cpu_training *)base;
    const struct cov_train_batch batch = {.n = explained->n};
    const size_t n_inputs = explained->n * t->layers[0].layer.t_in * 4;
    t->batch = &batch;
    memcpy(t->onehot, explained->inputs, n_inputs * sizeof *t->onehot);
    int rc = forward(t, e);
    if (rc == COV_OK)
        rc = cov_train_sums_backward(t, explained, sums, e);
    if (rc == COV_OK)
        rc = backward(t, e);
    if (rc == COV_OK)
        memcpy(gradient, t->d, n_inputs * sizeof *gradient);
    t->batch = NULL;
    return rc;
}

int cov_cpu_training_new(const struct cov_cpu_kernels *kernels,
                         const struct cov_cpu_arithmetic *arithmetic,
                         const struct cov_training_spec *spec, struct cov_training **out,
                         struct cov_err *e)
{
    static const struct cov_gradient_ops ops = {load, run, explain};
    const struct cov_layer *last = &spec->layers[spec->n_layers - 1];
    size_t outputs = last->c_out, n = spec->max_batch;
    *out = NULL;
    struct cov_cpu_training *t = cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    t->base = (struct cov_training){.gradients = &ops, .free = free_training};
    t->spec = *spec;
    t->n_layers = spec->n_layers;
    t->n_workers = cov_pool_size(spec->pool);
    t->kernels = *kernels;
    t->arithmetic = *arithmetic;
    t->layers = cov_calloc(t->n_layers, sizeof *t->layers, e);
    t->loss_weights = cov_calloc(outputs, sizeof *t->loss_weights, e);
    t->scores = cov_calloc(n, outputs * 3 * sizeof *t->scores, e);
    t->linear_sums = cov_calloc(n, outputs * (last->c_in + 1) * sizeof *t->linear_sums, e);
    t->scratch = cov_calloc(t->n_workers, sizeof *t->scratch, e);
    int rc = t->layers && t->loss_weights && t->scores && t->linear_sums && t->scratch ? COV_OK
                                                                                       : COV_ENOMEM;
    if (rc == COV_OK) {
        for (size_t d = 0; d < outputs; d++)
            t->loss_weights[d] = spec->loss_weights ? spec->loss_weights[d] : 1;
        t->spec.loss_weights = t->loss_weights;
        rc = make_layers(t, spec, e);
    }
    if (rc) {
        free_training(&t->base);
        return rc;
    }
    *out = &t->base;
    return COV_OK;
}
