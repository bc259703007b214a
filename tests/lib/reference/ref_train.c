/* ref_train.c - see ref_train.h.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/reference/ref_train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/compute/cpu/train/training.h"
#include "common/compute/dropout.h"
#include "common/seq/alphabet.h"

/* ---- convolutions and the last layer ---- */

/* The number of taps of a layer, and the distance between their weights. */
struct taps {
    size_t n, i_stride, o_stride;
};

static struct taps taps_of(const struct cov_layer *l)
{
    if (l->kind == COV_LAYER_CONV)
        return (struct taps){l->kernel, l->kernel, l->c_in * l->kernel};
    if (l->kind == COV_LAYER_CONV_TRANSPOSED)
        return (struct taps){l->kernel, l->c_out * l->kernel, l->kernel};
    return (struct taps){1, 1, l->c_in};
}

/* Returns the row of x that tap k of row t reads; -1 if there is none. */
static int64_t row_read(const struct cov_layer *l, size_t t, size_t k)
{
    int64_t row = (int64_t)t;
    if (l->kind == COV_LAYER_CONV) {
        row = (int64_t)(t * l->stride + k * l->dilation) - l->pad;
    } else if (l->kind == COV_LAYER_CONV_TRANSPOSED) {
        row += l->pad - (int64_t)(k * l->dilation);
        if (row < 0 || row % (int64_t)l->stride != 0)
            return -1;
        row /= (int64_t)l->stride;
    }
    return row < (int64_t)l->t_in ? row : -1;
}

void cov_ref_sums(const struct cov_layer *l, const double *weight, const double *bias,
                  const double *x, double *z)
{
    struct taps taps = taps_of(l);
    for (size_t t = 0; t < l->t_out; t++) {
        double *to = z + t * l->c_out;
        memcpy(to, bias, l->c_out * sizeof *to);
        for (size_t k = 0; k < taps.n; k++) {
            int64_t row = row_read(l, t, k);
            if (row < 0)
                continue;
            const double *from = x + (size_t)row * l->c_in;
            for (size_t o = 0; o < l->c_out; o++)
                for (size_t i = 0; i < l->c_in; i++)
                    to[o] += weight[i * taps.i_stride + o * taps.o_stride + k] * from[i];
        }
    }
}

void cov_ref_sums_backward(const struct cov_layer *l, const double *weight, const double *x,
                           const double *dz, double *dx, double *dweight, double *dbias)
{
    struct taps taps = taps_of(l);
    if (dx)
        memset(dx, 0, l->t_in * l->c_in * sizeof *dx);
    for (size_t t = 0; t < l->t_out; t++) {
        const double *by = dz + t * l->c_out;
        for (size_t o = 0; o < l->c_out; o++)
            dbias[o] += by[o];
        for (size_t k = 0; k < taps.n; k++) {
            int64_t row = row_read(l, t, k);
            if (row < 0)
                continue;
            const double *from = x + (size_t)row * l->c_in;
            double *to = dx ? dx + (size_t)row * l->c_in : NULL;
            for (size_t o = 0; o < l->c_out; o++)
                for (size_t i = 0; i < l->c_in; i++) {
                    size_t at = i * taps.i_stride + o * taps.o_stride + k;
                    dweight[at] += by[o] * from[i];
                    if (to)
                        to[i] += by[o] * weight[at];
                }
        }
    }
}

/* ---- norms ---- */

void cov_ref_norm_sums(size_t n_rows, size_t c, const double *r, double *sums)
{
    for (size_t t = 0; t < n_rows; t++)
        for (size_t o = 0; o < c; o++) {
            double v = r[t * c + o];
            sums[o] += v;
            sums[c + o] += v * v;
        }
}

void cov_ref_norm(size_t n_rows, size_t c, const struct cov_ref_norm *norm, const double *r,
                  double *y)
{
    for (size_t t = 0; t < n_rows; t++)
        for (size_t o = 0; o < c; o++)
            y[t * c + o] =
                (r[t * c + o] - norm->mean[o]) * norm->rstd[o] * norm->gamma[o] + norm->beta[o];
}

void cov_ref_norm_backward_sums(size_t n_rows, size_t c, const struct cov_ref_norm *norm,
                                const double *r, const double *dy, double *sums)
{
    for (size_t t = 0; t < n_rows; t++)
        for (size_t o = 0; o < c; o++) {
            double by = dy[t * c + o];
            sums[o] += by;
            sums[c + o] += by * (r[t * c + o] - norm->mean[o]) * norm->rstd[o];
        }
}

void cov_ref_norm_backward(size_t n_rows, size_t c, const struct cov_ref_norm *norm,
                           const double *sums, double positions, const double *r, double *d)
{
    for (size_t t = 0; t < n_rows; t++)
        for (size_t o = 0; o < c; o++) {
            double x = (r[t * c + o] - norm->mean[o]) * norm->rstd[o];
            d[t * c + o] = norm->gamma[o] * norm->rstd[o] *
                           (d[t * c + o] - sums[o] / positions - x * sums[c + o] / positions);
        }
}

/* ---- LSTM ---- */

static double sigmoid(double v)
{
    return 1.0 / (1.0 + exp(-v));
}

/* sum[n] += w[n,k] v[k] */
static void add_product(size_t n, size_t k, const double *w, const double *v, double *sum)
{
    for (size_t g = 0; g < n; g++)
        for (size_t i = 0; i < k; i++)
            sum[g] += w[g * k + i] * v[i];
}

/* sum[k] += v[n] w[n,k]; dw[n,k] += v[n] u[k] */
static void add_backward(size_t n, size_t k, const double *w, const double *v, const double *u,
                         double *sum, double *dw)
{
    for (size_t g = 0; g < n; g++)
        for (size_t i = 0; i < k; i++) {
            sum[i] += v[g] * w[g * k + i];
            dw[g * k + i] += v[g] * u[i];
        }
}

static size_t row_of(const struct cov_layer *l, size_t d, size_t step)
{
    return d ? l->t_in - 1 - step : step;
}

void cov_ref_lstm(const struct cov_layer *l, size_t d, const struct cov_ref_lstm *s,
                  const double *x, double *y)
{
    size_t hidden = l->hidden, n_gates = 4 * hidden, width = l->directions * hidden;
    const double *before = NULL, *cell_before = NULL;
    for (size_t step = 0; step < l->t_in; step++) {
        size_t t = row_of(l, d, step);
        double *gates = s->gates + t * n_gates, *cell = s->cells + t * hidden;
        double *h = y + t * width + d * hidden;
        for (size_t g = 0; g < n_gates; g++)
            gates[g] = s->b_ih[g] + s->b_hh[g];
        add_product(n_gates, l->c_in, s->w_ih, x + t * l->c_in, gates);
        if (before)
            add_product(n_gates, hidden, s->w_hh, before, gates);
        for (size_t u = 0; u < hidden; u++) {
            double *i = &gates[u], *f = i + hidden, *g = f + hidden, *o = g + hidden;
            *i = sigmoid(*i);
            *f = sigmoid(*f);
            *g = tanh(*g);
            *o = sigmoid(*o);
            cell[u] = *i * *g + (cell_before ? *f * cell_before[u] : 0);
            h[u] = *o * tanh(cell[u]);
        }
        before = h;
        cell_before = cell;
    }
}

/* Computes dgates[4*hidden], the gradient of the pre-activations, from dh. dc is the gradient of
 * the cells: on entry from the next step, on return for the previous step. */
static void gates_backward(size_t hidden, const double *gates, const double *cell,
                           const double *cell_before, const double *dh, double *dc, double *dgates)
{
    for (size_t u = 0; u < hidden; u++) {
        double i = gates[u], f = gates[hidden + u], g = gates[2 * hidden + u];
        double o = gates[3 * hidden + u], shown = tanh(cell[u]);
        double by_cell = dc[u] + dh[u] * o * (1 - shown * shown);
        dgates[u] = by_cell * g * i * (1 - i);
        dgates[hidden + u] = by_cell * (cell_before ? cell_before[u] : 0) * f * (1 - f);
        dgates[2 * hidden + u] = by_cell * i * (1 - g * g);
        dgates[3 * hidden + u] = dh[u] * shown * o * (1 - o);
        dc[u] = by_cell * f;
    }
}

void cov_ref_lstm_backward(const struct cov_layer *l, size_t d, const struct cov_ref_lstm *s,
                           const double *x, const double *y,
                           const struct cov_ref_lstm_gradients *gradients, double *scratch)
{
    const double *dy = gradients->dy;
    double *dx = gradients->dx, *const *dw = gradients->dw;
    size_t hidden = l->hidden, n_gates = 4 * hidden, width = l->directions * hidden;
    double *dgates = scratch, *dh = scratch + n_gates, *dc = dh + hidden;
    memset(dh, 0, 2 * hidden * sizeof *dh);
    for (size_t step = l->t_in; step-- > 0;) {
        size_t t = row_of(l, d, step), at = step > 0 ? row_of(l, d, step - 1) : 0;
        for (size_t u = 0; u < hidden; u++)
            dh[u] += dy[t * width + d * hidden + u];
        gates_backward(hidden, s->gates + t * n_gates, s->cells + t * hidden,
                       step > 0 ? s->cells + at * hidden : NULL, dh, dc, dgates);
        memset(dh, 0, hidden * sizeof *dh);
        add_backward(n_gates, l->c_in, s->w_ih, dgates, x + t * l->c_in, dx + t * l->c_in, dw[0]);
        if (step > 0)
            add_backward(n_gates, hidden, s->w_hh, dgates, y + at * width + d * hidden, dh, dw[1]);
        for (size_t g = 0; g < n_gates; g++) {
            dw[2][g] += dgates[g];
            dw[3][g] += dgates[g];
        }
    }
}

/* ---- loss ---- */

size_t cov_ref_row_score(size_t L, size_t stride, const uint8_t *codes, const double *p,
                         const float *targets, double *loss, double *accuracy)
{
    size_t n = 0;
    double sum = 0, sum_x = 0, sum_t = 0, xx = 0, tt = 0, xt = 0;
    *loss = *accuracy = 0;
    for (size_t i = 0; i < L; i++) {
        if (!cov_train_counts(codes[i], targets[i * stride]))
            continue;
        double x = exp(p[i * stride]), t = (double)targets[i * stride];
        sum += x - t * p[i * stride];
        sum_x += x;
        sum_t += t;
        n++;
    }
    if (n == 0)
        return 0;
    double mean_x = sum_x / (double)n, mean_t = sum_t / (double)n;
    for (size_t i = 0; i < L; i++) {
        if (!cov_train_counts(codes[i], targets[i * stride]))
            continue;
        double x = exp(p[i * stride]) - mean_x, t = (double)targets[i * stride] - mean_t;
        xx += x * x;
        tt += t * t;
        xt += x * t;
    }
    *loss = sum / (double)n;
    *accuracy = xt / (sqrt(xx) * sqrt(tt) + COV_PEARSON_EPS);
    return n;
}

void cov_ref_row_backward(size_t L, size_t stride, const uint8_t *codes, const double *p,
                          const float *targets, double scale, double *dp)
{
    for (size_t i = 0; i < L; i++)
        dp[i * stride] = cov_train_counts(codes[i], targets[i * stride])
                             ? scale * (exp(p[i * stride]) - (double)targets[i * stride])
                             : 0;
}

/* ---- training: layer by layer, and in each the sequences of a batch ---- */

/* Results of a layer's forward pass, for all sequences. */
struct kept {
    double *y;           /* [n, t_out, c_out] */
    double *r;           /* [n, t_out, c_out] before the norm; y if there is none */
    double *dropped;     /* [n, t_out, c_out] the input of the next layer; y without dropout */
    double *gates;       /* [n, directions, T, 4*hidden] */
    double *cells;       /* [n, directions, T, hidden] */
    double *sums;        /* [2*c_out + 1] sums of a norm, and positions of the whole batch */
    double *mean, *rstd; /* [c_out] */
};

/* A layer, its weights and its results. */
struct ref_layer {
    struct cov_layer l;
    struct cov_layer_weights w;
    struct kept k;
    size_t size; /* of a sequence's output */
    bool norm;
    bool drops; /* dropout after it */
};

struct cov_ref_training {
    struct cov_training base;
    struct cov_training_spec spec; /* only the fields that outlive the spec */
    struct cov_arena memory;       /* of the arrays below */
    struct ref_layer *layers;
    float *loss_weights; /* [D] */
    size_t n_layers;
    double *block;   /* [n_floats] */
    double *x;       /* [max_batch, L, 4] */
    double *d[2];    /* [max_batch, the largest layer]: gradients, alternating */
    double *scratch; /* [6*hidden] */
    double *scores;  /* [max_batch, D, 3]: loss, accuracy, columns */
    size_t d_size;

    /* During a run: */
    const double *params;
    const struct cov_train_batch *batch;
    uint64_t step;
    double *gradient; /* [n_floats] */
    double weight_sum;
};

/* ---- making ---- */

static double *make(struct cov_ref_training *t, size_t n)
{
    return cov_arena_calloc(&t->memory, n, sizeof(double));
}

static void make_kept(struct cov_ref_training *t, struct ref_layer *a)
{
    const struct cov_layer *l = &a->l;
    struct kept *k = &a->k;
    size_t n = t->spec.max_batch;
    k->y = k->r = k->dropped = make(t, n * a->size);
    if (a->drops)
        k->dropped = make(t, n * a->size);
    if (l->kind == COV_LAYER_LSTM) {
        k->gates = make(t, n * l->directions * l->t_in * 4 * l->hidden);
        k->cells = make(t, n * l->directions * l->t_in * l->hidden);
    }
    if (a->norm) {
        k->r = make(t, n * a->size);
        k->sums = make(t, 2 * l->c_out + 1);
        k->mean = make(t, l->c_out);
        k->rstd = make(t, l->c_out);
    }
}

static int make_memory(struct cov_ref_training *t, const struct cov_training_spec *spec,
                       struct cov_err *e)
{
    size_t n = spec->max_batch, L = spec->layers[0].t_in, most_hidden = 0;
    size_t outputs = spec->layers[t->n_layers - 1].c_out;
    t->layers = cov_arena_calloc(&t->memory, t->n_layers, sizeof *t->layers);
    t->loss_weights = cov_arena_calloc(&t->memory, outputs, sizeof *t->loss_weights);
    if (cov_arena_check(&t->memory, e))
        return COV_ENOMEM;
    for (size_t d = 0; d < outputs; d++)
        t->loss_weights[d] = spec->loss_weights ? spec->loss_weights[d] : 1;
    t->spec.loss_weights = t->loss_weights;
    t->d_size = L * 4;
    for (size_t i = 0; i < t->n_layers; i++) {
        const struct cov_layer *l = &spec->layers[i];
        struct ref_layer *a = &t->layers[i];
        *a = (struct ref_layer){.l = *l, .w = spec->weights[i], .size = l->t_out * l->c_out};
        a->norm = l->norm && (l->kind == COV_LAYER_CONV || l->kind == COV_LAYER_CONV_TRANSPOSED);
        a->drops = spec->dropout > 0 && i + 1 < t->n_layers && l->kind == COV_LAYER_LSTM &&
                   spec->layers[i + 1].kind == COV_LAYER_LSTM;
        t->d_size = a->size > t->d_size ? a->size : t->d_size;
        most_hidden = l->hidden > most_hidden ? l->hidden : most_hidden;
        make_kept(t, a);
    }
    t->block = make(t, spec->n_floats);
    t->x = make(t, n * L * 4);
    t->d[0] = make(t, n * t->d_size);
    t->d[1] = make(t, n * t->d_size);
    t->scratch = make(t, 6 * most_hidden);
    t->scores = make(t, n * outputs * 3);
    return cov_arena_check(&t->memory, e);
}

static void free_training(struct cov_training *base)
{
    struct cov_ref_training *t = (struct cov_ref_training *)base;
    cov_arena_fini(&t->memory);
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

static const double *param(const struct cov_ref_training *t, const float *parameter)
{
    return t->params + (parameter - t->spec.block);
}

static double *gradient_of(const struct cov_ref_training *t, const float *parameter)
{
    return t->gradient + (parameter - t->spec.block);
}

/* Returns the input of layer i for sequence b. */
static const double *input_of(const struct cov_ref_training *t, size_t i, size_t b)
{
    const double *x = i == 0 ? t->x : t->layers[i - 1].k.dropped;
    return x + b * t->layers[i].l.t_in * t->layers[i].l.c_in;
}

static struct cov_ref_norm norm_of(const struct cov_ref_training *t, const struct ref_layer *a)
{
    return (struct cov_ref_norm){a->k.mean, a->k.rstd, param(t, a->w.gamma), param(t, a->w.beta)};
}

/* Direction d of an LSTM. */
static struct cov_ref_lstm lstm_of(const struct cov_ref_training *t, const struct ref_layer *a,
                                   size_t b, size_t d)
{
    size_t at = (b * a->l.directions + d) * a->l.t_in * a->l.hidden;
    return (struct cov_ref_lstm){param(t, a->w.w_ih[d]), param(t, a->w.w_hh[d]),
                                 param(t, a->w.b_ih[d]), param(t, a->w.b_hh[d]),
                                 a->k.gates + 4 * at,    a->k.cells + at};
}

/* Copies `from` to `to` with the dropout after layer i: dropped elements become 0, the others are
 * scaled. */
static void drop(const struct cov_ref_training *t, size_t i, size_t b, const double *from,
                 double *to)
{
    uint64_t key = cov_dropout_key(t->spec.seed, t->step, i, t->batch->first + b);
    uint32_t limit = cov_dropout_limit(t->spec.dropout);
    size_t c = t->layers[i].l.c_out;
    for (size_t row = 0; row < t->layers[i].l.t_out; row++)
        for (size_t o = 0; o < c; o++) {
            bool dropped = cov_dropout_bits(key, cov_dropout_place(row, c) + o) < limit;
            to[row * c + o] = dropped ? 0 : from[row * c + o] / (1 - t->spec.dropout);
        }
}

/* Sums over the processes. */
static int reduce(const struct cov_ref_training *t, double *v, size_t n, struct cov_err *e)
{
    return t->spec.reduce.fn ? t->spec.reduce.fn(t->spec.reduce.arg, v, n, e) : COV_OK;
}

/* ---- forward ---- */

/* Runs sequence b up to the norm. */
static void forward_one(const struct cov_ref_training *t, size_t i, size_t b)
{
    const struct ref_layer *a = &t->layers[i];
    const struct cov_layer *l = &a->l;
    const double *x = input_of(t, i, b);
    double *y = a->k.y + b * a->size, *r = a->k.r + b * a->size;
    if (l->kind == COV_LAYER_LSTM) {
        for (size_t d = 0; d < l->directions; d++) {
            struct cov_ref_lstm s = lstm_of(t, a, b, d);
            cov_ref_lstm(l, d, &s, x, y);
        }
        if (a->drops)
            drop(t, i, b, y, a->k.dropped + b * a->size);
        return;
    }
    cov_ref_sums(l, param(t, a->w.weight), param(t, a->w.bias), x, r);
    for (size_t k = 0; k < a->size && l->kind != COV_LAYER_LINEAR_EXP; k++)
        r[k] = r[k] < 0 ? 0 : r[k];
    if (a->norm)
        cov_ref_norm_sums(l->t_out, l->c_out, r, a->k.sums);
}

/* Starts sums for the norm of a layer. */
static void begin_sums(const struct ref_layer *a, size_t n)
{
    memset(a->k.sums, 0, 2 * a->l.c_out * sizeof *a->k.sums);
    a->k.sums[2 * a->l.c_out] = (double)(n * a->l.t_out);
}

/* Computes mean and variance of the batch, also stores them in the gradient, and normalises. */
static int normalise(const struct cov_ref_training *t, const struct ref_layer *a, struct cov_err *e)
{
    const struct cov_layer *l = &a->l;
    const double *sums = a->k.sums;
    int rc = reduce(t, a->k.sums, 2 * l->c_out + 1, e);
    double n = sums[2 * l->c_out];
    for (size_t o = 0; o < l->c_out; o++) {
        double mean = sums[o] / n, var = sums[l->c_out + o] / n - mean * mean;
        var = var < 0 ? 0 : var;
        a->k.mean[o] = mean;
        a->k.rstd[o] = 1 / sqrt(var + COV_NORM_EPS);
        gradient_of(t, a->w.mean)[o] = mean;
        gradient_of(t, a->w.var)[o] = n > 1 ? var * n / (n - 1) : var;
    }
    struct cov_ref_norm norm = norm_of(t, a);
    cov_ref_norm(t->batch->n * l->t_out, l->c_out, &norm, a->k.r, a->k.y);
    return rc;
}

static int forward(const struct cov_ref_training *t, struct cov_err *e)
{
    size_t n = t->batch->n, L = t->layers[0].l.t_in;
    for (size_t i = 0; i < n * L; i++)
        for (size_t c = 0; c < 4; c++)
            t->x[i * 4 + c] = (double)cov_onehot_f32[t->batch->codes[i] & 15][c];
    int rc = COV_OK;
    for (size_t i = 0; i < t->n_layers && !rc; i++) {
        if (t->layers[i].norm)
            begin_sums(&t->layers[i], n);
        for (size_t b = 0; b < n; b++)
            forward_one(t, i, b);
        if (t->layers[i].norm)
            rc = normalise(t, &t->layers[i], e);
    }
    return rc;
}

/* ---- loss ---- */

static int score_batch(struct cov_ref_training *t, struct cov_train_score *score, struct cov_err *e)
{
    const struct ref_layer *last = &t->layers[t->n_layers - 1];
    size_t L = last->l.t_out, n = last->l.c_out;
    *score = (struct cov_train_score){0};
    memset(t->scores, 0, t->batch->n * n * 3 * sizeof *t->scores);
    for (size_t row = 0; row < t->batch->n * n; row++) {
        size_t b = row / n, at = b * L * n + row % n;
        double *to = t->scores + row * 3;
        if (t->batch->present[row])
            to[2] = (double)cov_ref_row_score(L, n, t->batch->codes + b * L, last->k.y + at,
                                              t->batch->targets + at, &to[0], &to[1]);
    }
    return cov_train_batch_score(&t->spec, t->scores, t->batch->n, n, score, &t->weight_sum, e);
}

static void loss_backward(const struct cov_ref_training *t)
{
    const struct ref_layer *last = &t->layers[t->n_layers - 1];
    size_t L = last->l.t_out, n = last->l.c_out;
    for (size_t row = 0; row < t->batch->n * n; row++) {
        size_t b = row / n, d = row % n, at = b * L * n + d;
        double columns = t->scores[row * 3 + 2], weight = (double)t->loss_weights[d];
        double *to = t->d[0] + b * t->d_size + d;
        if (columns > 0 && weight > 0)
            cov_ref_row_backward(L, n, t->batch->codes + b * L, last->k.y + at,
                                 t->batch->targets + at, weight / (columns * t->weight_sum), to);
        else
            for (size_t i = 0; i < L; i++)
                to[i * n] = 0;
    }
}

/* ---- backward ---- */

/* The sums of the norm of a layer, which are also gradients of its parameters. */
static int norm_backward_sums(const struct cov_ref_training *t, const struct ref_layer *a,
                              const double *d_in, struct cov_err *e)
{
    const struct cov_layer *l = &a->l;
    struct cov_ref_norm norm = norm_of(t, a);
    begin_sums(a, t->batch->n);
    for (size_t b = 0; b < t->batch->n; b++)
        cov_ref_norm_backward_sums(l->t_out, l->c_out, &norm, a->k.r + b * a->size,
                                   d_in + b * t->d_size, a->k.sums);
    memcpy(gradient_of(t, a->w.beta), a->k.sums, l->c_out * sizeof *a->k.sums);
    memcpy(gradient_of(t, a->w.gamma), a->k.sums + l->c_out, l->c_out * sizeof *a->k.sums);
    return reduce(t, a->k.sums, 2 * l->c_out + 1, e);
}

static void lstm_backward(const struct cov_ref_training *t, size_t i, size_t b, const double *d_in,
                          double *dx)
{
    const struct ref_layer *a = &t->layers[i];
    memset(dx, 0, a->l.t_in * a->l.c_in * sizeof *dx);
    for (size_t d = 0; d < a->l.directions; d++) {
        struct cov_ref_lstm s = lstm_of(t, a, b, d);
        const struct cov_ref_lstm_gradients gradients = {
            .dy = d_in,
            .dx = dx,
            .dw = {gradient_of(t, a->w.w_ih[d]), gradient_of(t, a->w.w_hh[d]),
                   gradient_of(t, a->w.b_ih[d]), gradient_of(t, a->w.b_hh[d])},
        };
        cov_ref_lstm_backward(&a->l, d, &s, input_of(t, i, b), a->k.y + b * a->size, &gradients,
                              t->scratch);
    }
    if (i > 0 && t->layers[i - 1].drops)
        drop(t, i - 1, b, dx, dx);
}

/* d: the gradient of the layer's output, which is overwritten; dx: that of its input */
static void backward_one(const struct cov_ref_training *t, size_t i, size_t b, double *d,
                         double *dx)
{
    const struct ref_layer *a = &t->layers[i];
    const struct cov_layer *l = &a->l;
    const double *r = a->k.r + b * a->size;
    if (l->kind == COV_LAYER_LSTM) {
        lstm_backward(t, i, b, d, dx);
        return;
    }
    if (a->norm) {
        struct cov_ref_norm norm = norm_of(t, a);
        cov_ref_norm_backward(l->t_out, l->c_out, &norm, a->k.sums, a->k.sums[2 * l->c_out], r, d);
    }
    for (size_t k = 0; k < a->size && l->kind != COV_LAYER_LINEAR_EXP; k++)
        d[k] = r[k] > 0 ? d[k] : 0;
    cov_ref_sums_backward(l, param(t, a->w.weight), input_of(t, i, b), d, i > 0 ? dx : NULL,
                          gradient_of(t, a->w.weight), gradient_of(t, a->w.bias));
}

static int backward(const struct cov_ref_training *t, struct cov_err *e)
{
    int rc = COV_OK;
    loss_backward(t);
    for (size_t i = t->n_layers; !rc && i-- > t->spec.first_trained;) {
        double *d_in = t->d[(t->n_layers - 1 - i) % 2], *d_out = t->d[(t->n_layers - i) % 2];
        if (t->layers[i].norm)
            rc = norm_backward_sums(t, &t->layers[i], d_in, e);
        for (size_t b = 0; b < t->batch->n && !rc; b++)
            backward_one(t, i, b, d_in + b * t->d_size, d_out + b * t->d_size);
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
    t->gradient = gradient;
    memset(gradient, 0, t->spec.n_floats * sizeof *gradient);
    int rc = forward(t, e);
    if (!rc)
        rc = score_batch(t, score, e);
    return rc || score->n_rows == 0 ? rc : backward(t, e);
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
    *out = NULL;
    struct cov_ref_training *t = cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    t->base = (struct cov_training){.gradients = &ops, .free = free_training};
    t->spec = *spec;
    t->n_layers = spec->n_layers;
    int rc = make_memory(t, spec, e);
    if (rc)
        free_training(&t->base);
    else
        *out = &t->base;
    return rc;
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
