/* training_ref.c - see training_ref.h. Runs layer by layer, with the sequences of a batch as the
 * pool's items. Each sequence keeps the results that the backward pass needs, and its own
 * gradients, which are added up in order.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/reference/training_ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/compute/cpu/train/training.h"
#include "common/compute/dropout.h"
#include "common/seq/alphabet.h"
#include "tests/lib/reference/ref_train.h"

/* Results of a layer's forward pass, for all sequences. */
struct kept {
    double *y;           /* [n, t_out, c_out] */
    double *r;           /* [n, t_out, c_out] before the norm; y if there is none */
    double *dropped;     /* [n, t_out, c_out] the input of the next layer; NULL: y */
    double *gates;       /* [n, directions, T, 4*hidden] */
    double *cells;       /* [n, directions, T, hidden] */
    double *sums;        /* [n + 1, 2*c_out] sums of a norm, per sequence; the last row is their
                          * total */
    double *mean, *rstd; /* [c_out] */
};

struct cov_ref_training {
    struct cov_training base;
    struct cov_training_spec spec; /* only the fields that outlive the spec */
    struct cov_layer *layers;
    struct cov_layer_weights *weights;
    float *loss_weights; /* [D] */
    size_t n_layers, max_batch;
    double *block;     /* [n_floats] */
    struct kept *kept; /* [n_layers] */
    double *x;         /* [max_batch, L, 4] */
    double *d[2];      /* [max_batch, the largest layer]: gradients, alternating */
    double *gradients; /* [max_batch, n_floats] */
    double *scratch;   /* [max_batch, 6*hidden] */
    double *scores;    /* [max_batch, D, 3]: loss, accuracy, columns */
    size_t d_size, scratch_size;

    /* During a run: */
    const double *params;
    const struct cov_train_batch *batch;
    uint64_t step;
    size_t layer;
    double *d_in;     /* gradient of the layer's output */
    double *d_out;    /* gradient of the layer's input */
    double positions; /* positions of the whole batch in this layer */
    double weight_sum;
};

/* ---- making ---- */

static bool has_norm(const struct cov_layer *l)
{
    return l->norm && (l->kind == COV_LAYER_CONV || l->kind == COV_LAYER_CONV_TRANSPOSED);
}

static bool drops(const struct cov_ref_training *t, size_t i)
{
    return t->spec.dropout > 0 && i + 1 < t->n_layers && t->layers[i].kind == COV_LAYER_LSTM &&
           t->layers[i + 1].kind == COV_LAYER_LSTM;
}

static double *make(size_t n, bool *failed, struct cov_err *e)
{
    double *p = cov_calloc(n, sizeof *p, e);
    *failed |= !p;
    return p;
}

static int make_kept(struct cov_ref_training *t, size_t i, struct cov_err *e)
{
    const struct cov_layer *l = &t->layers[i];
    struct kept *k = &t->kept[i];
    size_t n = t->max_batch, size = l->t_out * l->c_out;
    bool failed = false;
    k->y = make(n * size, &failed, e);
    if (drops(t, i))
        k->dropped = make(n * size, &failed, e);
    if (l->kind == COV_LAYER_LSTM) {
        k->gates = make(n * l->directions * l->t_in * 4 * l->hidden, &failed, e);
        k->cells = make(n * l->directions * l->t_in * l->hidden, &failed, e);
    }
    if (has_norm(l)) {
        k->r = make(n * size, &failed, e);
        k->sums = make((n + 1) * 2 * l->c_out + 1, &failed, e);
        k->mean = make(l->c_out, &failed, e);
        k->rstd = make(l->c_out, &failed, e);
    }
    return failed ? COV_ENOMEM : COV_OK;
}

static int make_memory(struct cov_ref_training *t, struct cov_err *e)
{
    size_t n = t->max_batch, L = t->layers[0].t_in, outputs = t->layers[t->n_layers - 1].c_out;
    t->d_size = L * 4;
    bool failed = false;
    for (size_t i = 0; i < t->n_layers; i++) {
        const struct cov_layer *l = &t->layers[i];
        size_t size = l->t_out * l->c_out;
        t->d_size = size > t->d_size ? size : t->d_size;
        t->scratch_size = 6 * l->hidden > t->scratch_size ? 6 * l->hidden : t->scratch_size;
        int rc = make_kept(t, i, e);
        if (rc)
            return rc;
    }
    t->block = make(t->spec.n_floats, &failed, e);
    t->x = make(n * L * 4, &failed, e);
    t->d[0] = make(n * t->d_size, &failed, e);
    t->d[1] = make(n * t->d_size, &failed, e);
    t->gradients = make(n * t->spec.n_floats, &failed, e);
    t->scratch = make(n * t->scratch_size, &failed, e);
    t->scores = make(n * outputs * 3, &failed, e);
    return failed ? COV_ENOMEM : COV_OK;
}

static void free_training(struct cov_training *base)
{
    struct cov_ref_training *t = (struct cov_ref_training *)base;
    for (size_t i = 0; t->kept && i < t->n_layers; i++) {
        struct kept *k = &t->kept[i];
        free(k->y);
        free(k->r);
        free(k->dropped);
        free(k->gates);
        free(k->cells);
        free(k->sums);
        free(k->mean);
        free(k->rstd);
    }
    free(t->kept);
    free(t->layers);
    free(t->weights);
    free(t->loss_weights);
    free(t->block);
    free(t->x);
    free(t->d[0]);
    free(t->d[1]);
    free(t->gradients);
    free(t->scratch);
    free(t->scores);
    free(t);
}

static int load(struct cov_training *base, struct cov_err *e)
{
    (void)e;
    struct cov_ref_training *t = (struct cov_ref_training *)base;
    for (size_t i = 0; i < t->spec.n_floats; i++)
        t->block[i] = (double)t->spec.block[i];
    return COV_OK;
}

/* ---- places ---- */

/* Returns the offset of a parameter in the block. */
static size_t offset_of(const struct cov_ref_training *t, const float *parameter)
{
    return (size_t)(parameter - t->spec.block);
}

static const double *param(const struct cov_ref_training *t, const float *parameter)
{
    return t->params + offset_of(t, parameter);
}

/* Returns a parameter's gradient from sequence b. */
static double *gradient_of(const struct cov_ref_training *t, size_t b, const float *parameter)
{
    return t->gradients + b * t->spec.n_floats + offset_of(t, parameter);
}

static size_t out_size(const struct cov_layer *l)
{
    return l->t_out * l->c_out;
}

/* Returns the input of the layer for sequence b. */
static const double *input_of(const struct cov_ref_training *t, size_t b)
{
    const struct cov_layer *l = &t->layers[t->layer];
    if (t->layer == 0)
        return t->x + b * l->t_in * l->c_in;
    const struct kept *k = &t->kept[t->layer - 1];
    return (drops(t, t->layer - 1) ? k->dropped : k->y) + b * l->t_in * l->c_in;
}

static struct cov_ref_norm norm_of(const struct cov_ref_training *t)
{
    const struct kept *k = &t->kept[t->layer];
    const struct cov_layer_weights *w = &t->weights[t->layer];
    return (struct cov_ref_norm){k->mean, k->rstd, param(t, w->gamma), param(t, w->beta)};
}

static struct cov_ref_lstm lstm_of(const struct cov_ref_training *t, size_t b, size_t d)
{
    const struct cov_layer *l = &t->layers[t->layer];
    const struct cov_layer_weights *w = &t->weights[t->layer];
    size_t at = (b * l->directions + d) * l->t_in * l->hidden;
    return (struct cov_ref_lstm){param(t, w->w_ih[d]),
                                 param(t, w->w_hh[d]),
                                 param(t, w->b_ih[d]),
                                 param(t, w->b_hh[d]),
                                 t->kept[t->layer].gates + 4 * at,
                                 t->kept[t->layer].cells + at};
}

/* Copies `from` to `to` with dropout: dropped elements become 0, the others are scaled. */
static void drop(const struct cov_ref_training *t, size_t layer, size_t b, const double *from,
                 double *to)
{
    uint64_t key = cov_dropout_key(t->spec.seed, t->step, layer, t->batch->first + b);
    uint32_t limit = cov_dropout_limit(t->spec.dropout);
    size_t c = t->layers[layer].c_out;
    for (size_t row = 0; row < t->layers[layer].t_out; row++)
        for (size_t i = 0; i < c; i++) {
            bool dropped = cov_dropout_bits(key, cov_dropout_place(row, c) + i) < limit;
            to[row * c + i] = dropped ? 0 : from[row * c + i] / (1 - t->spec.dropout);
        }
}

/* ---- forward ---- */

/* Runs sequence b up to the norm. */
static int forward_one(void *arg, size_t b, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_ref_training *t = arg;
    const struct cov_layer *l = &t->layers[t->layer];
    const struct cov_layer_weights *w = &t->weights[t->layer];
    struct kept *k = &t->kept[t->layer];
    size_t size = out_size(l);
    const double *x = input_of(t, b);
    double *y = k->y + b * size;
    if (l->kind == COV_LAYER_LSTM) {
        for (size_t d = 0; d < l->directions; d++) {
            struct cov_ref_lstm s = lstm_of(t, b, d);
            cov_ref_lstm(l, d, &s, x, y);
        }
        if (drops(t, t->layer))
            drop(t, t->layer, b, y, k->dropped + b * size);
        return COV_OK;
    }
    if (has_norm(l))
        y = k->r + b * size;
    cov_ref_sums(l, param(t, w->weight), param(t, w->bias), x, y);
    if (l->kind == COV_LAYER_LINEAR_EXP)
        return COV_OK;
    for (size_t i = 0; i < size; i++)
        y[i] = y[i] < 0 ? 0 : y[i];
    if (has_norm(l)) {
        double *sums = k->sums + b * 2 * l->c_out;
        memset(sums, 0, 2 * l->c_out * sizeof *sums);
        cov_ref_norm_sums(l->t_out, l->c_out, y, sums);
    }
    return COV_OK;
}

static int norm_one(void *arg, size_t b, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_ref_training *t = arg;
    const struct cov_layer *l = &t->layers[t->layer];
    struct kept *k = &t->kept[t->layer];
    struct cov_ref_norm norm = norm_of(t);
    cov_ref_norm(l->t_out, l->c_out, &norm, k->r + b * out_size(l), k->y + b * out_size(l));
    return COV_OK;
}

static int reduce(const struct cov_ref_training *t, double *v, size_t n, struct cov_err *e)
{
    return t->spec.reduce.fn ? t->spec.reduce.fn(t->spec.reduce.arg, v, n, e) : COV_OK;
}

/* Sets *all to the sums for the norm over the batch, and sets t->positions. */
static int sum_up(struct cov_ref_training *t, double **all, struct cov_err *e)
{
    const struct cov_layer *l = &t->layers[t->layer];
    struct kept *k = &t->kept[t->layer];
    size_t n = t->batch->n, width = 2 * l->c_out;
    double *sums = k->sums + t->max_batch * width;
    memset(sums, 0, width * sizeof *sums);
    for (size_t b = 0; b < n; b++)
        for (size_t o = 0; o < width; o++)
            sums[o] += k->sums[b * width + o];
    sums[width] = (double)(n * l->t_out);
    *all = sums;
    int rc = reduce(t, sums, width + 1, e);
    t->positions = sums[width];
    return rc;
}

/* Computes mean and variance of the batch, and also stores them in the gradient. */
static int take_statistics(struct cov_ref_training *t, double *gradient, struct cov_err *e)
{
    const struct cov_layer *l = &t->layers[t->layer];
    const struct cov_layer_weights *w = &t->weights[t->layer];
    struct kept *k = &t->kept[t->layer];
    double *sums;
    int rc = sum_up(t, &sums, e);
    double n = t->positions;
    for (size_t o = 0; o < l->c_out; o++) {
        double mean = sums[o] / n, var = sums[l->c_out + o] / n - mean * mean;
        var = var < 0 ? 0 : var;
        k->mean[o] = mean;
        k->rstd[o] = 1 / sqrt(var + COV_NORM_EPS);
        gradient[offset_of(t, w->mean) + o] = mean;
        gradient[offset_of(t, w->var) + o] = n > 1 ? var * n / (n - 1) : var;
    }
    return rc;
}

static int forward(struct cov_ref_training *t, double *gradient, struct cov_err *e)
{
    size_t n = t->batch->n, L = t->layers[0].t_in;
    for (size_t i = 0; i < n * L; i++)
        for (size_t c = 0; c < 4; c++)
            t->x[i * 4 + c] = (double)cov_onehot_f32[t->batch->codes[i] & 15][c];
    int rc = COV_OK;
    for (t->layer = 0; rc == COV_OK && t->layer < t->n_layers; t->layer++) {
        rc = cov_pool_for(t->spec.pool, n, forward_one, t, e);
        if (rc || !has_norm(&t->layers[t->layer]))
            continue;
        rc = take_statistics(t, gradient, e);
        if (rc == COV_OK)
            rc = cov_pool_for(t->spec.pool, n, norm_one, t, e);
    }
    return rc;
}

/* ---- loss ---- */

static int score_one(void *arg, size_t b, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_ref_training *t = arg;
    const struct cov_layer *l = &t->layers[t->n_layers - 1];
    size_t L = l->t_out, n = l->c_out;
    for (size_t d = 0; d < n; d++) {
        double *to = t->scores + (b * n + d) * 3;
        memset(to, 0, 3 * sizeof *to);
        if (t->batch->present[b * n + d])
            to[2] = (double)cov_ref_row_score(L, n, t->batch->codes + b * L,
                                              t->kept[t->n_layers - 1].y + b * L * n + d,
                                              t->batch->targets + b * L * n + d, &to[0], &to[1]);
    }
    return COV_OK;
}

static int score_batch(struct cov_ref_training *t, struct cov_train_score *score, struct cov_err *e)
{
    size_t n = t->layers[t->n_layers - 1].c_out;
    *score = (struct cov_train_score){0};
    int rc = cov_pool_for(t->spec.pool, t->batch->n, score_one, t, e);
    return rc ? rc
              : cov_train_batch_score(&t->spec, t->scores, t->batch->n, n, score, &t->weight_sum,
                                      e);
}

static int loss_backward_one(void *arg, size_t b, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_ref_training *t = arg;
    const struct cov_layer *l = &t->layers[t->n_layers - 1];
    size_t L = l->t_out, n = l->c_out;
    memset(t->gradients + b * t->spec.n_floats, 0, t->spec.n_floats * sizeof *t->gradients);
    for (size_t d = 0; d < n; d++) {
        double columns = t->scores[(b * n + d) * 3 + 2];
        double weight = (double)t->loss_weights[d];
        size_t at = b * L * n + d;
        double *to = t->d[0] + b * t->d_size + d;
        if (columns > 0 && weight > 0)
            cov_ref_row_backward(L, n, t->batch->codes + b * L, t->kept[t->n_layers - 1].y + at,
                                 t->batch->targets + at, weight / (columns * t->weight_sum), to);
        else
            for (size_t i = 0; i < L; i++)
                to[i * n] = 0;
    }
    return COV_OK;
}

/* ---- backward ---- */

static int norm_sums_one(void *arg, size_t b, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_ref_training *t = arg;
    const struct cov_layer *l = &t->layers[t->layer];
    const struct cov_layer_weights *w = &t->weights[t->layer];
    struct kept *k = &t->kept[t->layer];
    struct cov_ref_norm norm = norm_of(t);
    double *sums = k->sums + b * 2 * l->c_out;
    memset(sums, 0, 2 * l->c_out * sizeof *sums);
    cov_ref_norm_backward_sums(l->t_out, l->c_out, &norm, k->r + b * out_size(l),
                               t->d_in + b * t->d_size, sums);
    memcpy(gradient_of(t, b, w->beta), sums, l->c_out * sizeof *sums);
    memcpy(gradient_of(t, b, w->gamma), sums + l->c_out, l->c_out * sizeof *sums);
    return COV_OK;
}

static void lstm_backward(struct cov_ref_training *t, size_t b, const double *d_in, double *dx)
{
    const struct cov_layer *l = &t->layers[t->layer];
    const struct cov_layer_weights *w = &t->weights[t->layer];
    memset(dx, 0, l->t_in * l->c_in * sizeof *dx);
    for (size_t d = 0; d < l->directions; d++) {
        struct cov_ref_lstm s = lstm_of(t, b, d);
        const struct cov_ref_lstm_gradients gradients = {
            .dy = d_in,
            .dx = dx,
            .dw = {gradient_of(t, b, w->w_ih[d]), gradient_of(t, b, w->w_hh[d]),
                   gradient_of(t, b, w->b_ih[d]), gradient_of(t, b, w->b_hh[d])},
        };
        cov_ref_lstm_backward(l, d, &s, input_of(t, b), t->kept[t->layer].y + b * out_size(l),
                              &gradients, t->scratch + b * t->scratch_size);
    }
    if (t->layer > 0 && drops(t, t->layer - 1))
        drop(t, t->layer - 1, b, dx, dx);
}

static int backward_one(void *arg, size_t b, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_ref_training *t = arg;
    const struct cov_layer *l = &t->layers[t->layer];
    const struct cov_layer_weights *w = &t->weights[t->layer];
    struct kept *k = &t->kept[t->layer];
    double *d = t->d_in + b * t->d_size, *dx = t->d_out + b * t->d_size;
    size_t size = out_size(l);
    if (l->kind == COV_LAYER_LSTM) {
        lstm_backward(t, b, d, dx);
        return COV_OK;
    }
    if (has_norm(l)) {
        struct cov_ref_norm norm = norm_of(t);
        cov_ref_norm_backward(l->t_out, l->c_out, &norm, k->sums + t->max_batch * 2 * l->c_out,
                              t->positions, k->r + b * size, d);
    }
    if (l->kind != COV_LAYER_LINEAR_EXP) {
        const double *r = (has_norm(l) ? k->r : k->y) + b * size;
        for (size_t i = 0; i < size; i++)
            d[i] = r[i] > 0 ? d[i] : 0;
    }
    cov_ref_sums_backward(l, param(t, w->weight), input_of(t, b), d, t->layer > 0 ? dx : NULL,
                          gradient_of(t, b, w->weight), gradient_of(t, b, w->bias));
    return COV_OK;
}

static int backward(struct cov_ref_training *t, struct cov_err *e)
{
    size_t n = t->batch->n;
    int rc = cov_pool_for(t->spec.pool, n, loss_backward_one, t, e);
    for (size_t i = t->n_layers; rc == COV_OK && i-- > t->spec.first_trained;) {
        double *sums;
        t->layer = i;
        t->d_in = t->d[(t->n_layers - 1 - i) % 2];
        t->d_out = t->d[(t->n_layers - i) % 2];
        if (has_norm(&t->layers[i])) {
            rc = cov_pool_for(t->spec.pool, n, norm_sums_one, t, e);
            if (rc == COV_OK)
                rc = sum_up(t, &sums, e);
        }
        if (rc == COV_OK)
            rc = cov_pool_for(t->spec.pool, n, backward_one, t, e);
    }
    return rc;
}

int cov_ref_training_run_double(struct cov_training *base, uint64_t step, const double *block,
                                const struct cov_train_batch *batch, double *gradient,
                                struct cov_train_score *score, struct cov_err *e)
{
    struct cov_ref_training *t = (struct cov_ref_training *)base;
    t->params = block;
    t->batch = batch;
    t->step = step;
    memset(gradient, 0, t->spec.n_floats * sizeof *gradient);
    int rc = forward(t, gradient, e);
    if (rc == COV_OK)
        rc = score_batch(t, score, e);
    if (rc || score->n_rows == 0)
        return rc;
    rc = backward(t, e);
    for (size_t b = 0; rc == COV_OK && b < batch->n; b++)
        for (size_t i = 0; i < t->spec.n_floats; i++)
            gradient[i] += t->gradients[b * t->spec.n_floats + i];
    return rc;
}

static int run(struct cov_training *base, uint64_t step, const struct cov_train_batch *batch,
               float *gradient, struct cov_train_score *score, struct cov_err *e)
{
    const struct cov_ref_training *t = (const struct cov_ref_training *)base;
    double *sums = cov_malloc(t->spec.n_floats, sizeof *sums, e);
    if (!sums)
        return COV_ENOMEM;
    int rc = cov_ref_training_run_double(base, step, t->block, batch, sums, score, e);
    for (size_t i = 0; i < t->spec.n_floats; i++)
        gradient[i] = (float)sums[i];
    free(sums);
    return rc;
}

int cov_ref_training_new(struct cov_device *dev, const struct cov_training_spec *spec,
                         struct cov_training **out, struct cov_err *e)
{
    (void)dev;
    static const struct cov_gradient_ops ops = {load, run, NULL};
    size_t n = spec->n_layers, outputs = spec->layers[n - 1].c_out;
    *out = NULL;
    struct cov_ref_training *t = cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    t->base = (struct cov_training){.gradients = &ops, .free = free_training};
    t->spec = *spec;
    t->n_layers = n;
    t->max_batch = spec->max_batch;
    t->layers = cov_calloc(n, sizeof *t->layers, e);
    t->weights = cov_calloc(n, sizeof *t->weights, e);
    t->kept = cov_calloc(n, sizeof *t->kept, e);
    t->loss_weights = cov_calloc(outputs, sizeof *t->loss_weights, e);
    int rc = t->layers && t->weights && t->kept && t->loss_weights ? COV_OK : COV_ENOMEM;
    if (rc == COV_OK) {
        memcpy(t->layers, spec->layers, n * sizeof *t->layers);
        memcpy(t->weights, spec->weights, n * sizeof *t->weights);
        for (size_t d = 0; d < outputs; d++)
            t->loss_weights[d] = spec->loss_weights ? spec->loss_weights[d] : 1;
        t->spec.loss_weights = t->loss_weights;
        rc = make_memory(t, e);
    }
    if (rc) {
        free_training(&t->base);
        return rc;
    }
    *out = &t->base;
    return COV_OK;
}

static void close_device(struct cov_device *dev)
{
    (void)dev;
}

struct cov_device *cov_ref_training_device(void)
{
    static const struct cov_device_ops ops = {
        .name = "reference", .close = close_device, .training_new = cov_ref_training_new};
    static struct cov_device device = {&ops};
    return &device;
}
