/* ref.c - see ref.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/layers/ref.h"

#include <math.h>
#include <string.h>

#include "common/compute/cpu/kernels/operands.h"

/* Returns a weight times v. */
static double product(enum cov_arithmetic arithmetic, float weight, double v)
{
    if (arithmetic == COV_FP32)
        return (double)weight * v;
    float x = (float)v;
    double high_w = (double)cov_bf16_round(weight), high_x = (double)cov_bf16_round(x);
    if (arithmetic == COV_BF16)
        return high_w * high_x;
    return high_w * high_x + (double)cov_bf16_low(weight) * high_x +
           high_w * (double)cov_bf16_low(x);
}

/* The operations after the sum of a convolution. */
static float finish(const struct cov_layer_weights *w, bool norm, size_t o, double sum)
{
    double v = sum < 0 ? 0 : sum;
    if (norm)
        v = (v - (double)w->mean[o]) / sqrt((double)w->var[o] + COV_NORM_EPS) *
                (double)w->gamma[o] +
            (double)w->beta[o];
    return (float)v;
}

static void conv(const struct cov_layer *l, const struct cov_layer_weights *w,
                 enum cov_arithmetic arithmetic, const float *x, float *y)
{
    for (size_t t = 0; t < l->t_out; t++)
        for (size_t o = 0; o < l->c_out; o++) {
            double sum = (double)w->bias[o];
            for (size_t k = 0; k < l->kernel; k++) {
                int64_t row = (int64_t)(t * l->stride + k * l->dilation) - l->pad;
                if (row < 0 || row >= (int64_t)l->t_in)
                    continue;
                for (size_t i = 0; i < l->c_in; i++)
                    sum += product(arithmetic, w->weight[(o * l->c_in + i) * l->kernel + k],
                                   (double)x[(size_t)row * l->c_in + i]);
            }
            y[t * l->c_out + o] = finish(w, l->norm, o, sum);
        }
}

static void conv_transposed(const struct cov_layer *l, const struct cov_layer_weights *w,
                            enum cov_arithmetic arithmetic, const float *x, float *y)
{
    for (size_t t = 0; t < l->t_out; t++)
        for (size_t o = 0; o < l->c_out; o++) {
            double sum = (double)w->bias[o];
            for (size_t k = 0; k < l->kernel; k++) {
                int64_t at = (int64_t)t + l->pad - (int64_t)(k * l->dilation);
                if (at < 0 || at % (int64_t)l->stride != 0)
                    continue;
                size_t j = (size_t)at / l->stride;
                if (j >= l->t_in)
                    continue;
                for (size_t i = 0; i < l->c_in; i++)
                    sum += product(arithmetic, w->weight[(i * l->c_out + o) * l->kernel + k],
                                   (double)x[j * l->c_in + i]);
            }
            y[t * l->c_out + o] = finish(w, l->norm, o, sum);
        }
}

static double sigmoid(double v)
{
    return 1.0 / (1.0 + exp(-v));
}

static void lstm(const struct cov_layer *l, const struct cov_layer_weights *w,
                 enum cov_arithmetic arithmetic, const float *x, float *y, double *state)
{
    size_t hidden = l->hidden;
    double *gates = state, *h = state + 4 * hidden, *c = state + 5 * hidden;
    for (size_t d = 0; d < l->directions; d++) {
        memset(h, 0, 2 * hidden * sizeof *h);
        for (size_t step = 0; step < l->t_in; step++) {
            size_t t = d ? l->t_in - 1 - step : step;
            for (size_t g = 0; g < 4 * hidden; g++) {
                double sum = (double)w->b_ih[d][g] + (double)w->b_hh[d][g];
                for (size_t i = 0; i < l->c_in; i++)
                    sum += product(arithmetic, w->w_ih[d][g * l->c_in + i],
                                   (double)x[t * l->c_in + i]);
                for (size_t i = 0; i < hidden; i++)
                    sum += product(arithmetic, w->w_hh[d][g * hidden + i], h[i]);
                gates[g] = sum;
            }
            for (size_t u = 0; u < hidden; u++) {
                c[u] = sigmoid(gates[hidden + u]) * c[u] +
                       sigmoid(gates[u]) * tanh(gates[2 * hidden + u]);
                h[u] = sigmoid(gates[3 * hidden + u]) * tanh(c[u]);
                y[(t * l->directions + d) * hidden + u] = (float)h[u];
            }
        }
    }
}

static void linear_exp(const struct cov_layer *l, const struct cov_layer_weights *w,
                       enum cov_arithmetic arithmetic, const float *x, float *y)
{
    for (size_t t = 0; t < l->t_out; t++)
        for (size_t o = 0; o < l->c_out; o++) {
            double sum = (double)w->bias[o];
            for (size_t i = 0; i < l->c_in; i++)
                sum += product(arithmetic, w->weight[o * l->c_in + i], (double)x[t * l->c_in + i]);
            y[t * l->c_out + o] = (float)exp(sum);
        }
}

void cov_ref_layer(const struct cov_layer *layer, const struct cov_layer_weights *w,
                   enum cov_arithmetic arithmetic, const float *x, float *y, double *state)
{
    switch (layer->kind) {
    case COV_LAYER_CONV:
        conv(layer, w, arithmetic, x, y);
        break;
    case COV_LAYER_CONV_TRANSPOSED:
        conv_transposed(layer, w, arithmetic, x, y);
        break;
    case COV_LAYER_LSTM:
        lstm(layer, w, arithmetic, x, y, state);
        break;
    case COV_LAYER_LINEAR_EXP:
        linear_exp(layer, w, arithmetic, x, y);
        break;
    }
}

void cov_ref_weight_places(struct cov_layer_weights *w, const float **places[COV_REF_N_WEIGHTS])
{
    const float **all[COV_REF_N_WEIGHTS] = {
        &w->weight,  &w->bias,    &w->gamma,   &w->beta,    &w->mean,    &w->var,     &w->w_ih[0],
        &w->w_ih[1], &w->w_hh[0], &w->w_hh[1], &w->b_ih[0], &w->b_ih[1], &w->b_hh[0], &w->b_hh[1]};
    memcpy(places, all, sizeof all);
}

void cov_ref_weight_list(const struct cov_layer_weights *w, const float *list[COV_REF_N_WEIGHTS])
{
    struct cov_layer_weights copy = *w;
    const float **places[COV_REF_N_WEIGHTS];
    cov_ref_weight_places(&copy, places);
    for (size_t k = 0; k < COV_REF_N_WEIGHTS; k++)
        list[k] = *places[k];
}

size_t cov_ref_weight_sizes(const struct cov_layer *l, size_t sizes[COV_REF_N_WEIGHTS])
{
    bool lstm = l->kind == COV_LAYER_LSTM;
    size_t taps = l->kind == COV_LAYER_LINEAR_EXP ? 1 : l->kernel;
    size_t norm = !lstm && l->norm ? l->c_out : 0, gates = lstm ? 4 * l->hidden : 0;
    size_t second = l->directions == 2 ? gates : 0; /* the gates of the backward direction */
    size_t all[COV_REF_N_WEIGHTS] = {lstm ? 0 : l->c_out * l->c_in * taps,
                                     lstm ? 0 : l->c_out,
                                     norm,
                                     norm,
                                     norm,
                                     norm,
                                     gates * l->c_in,
                                     second * l->c_in,
                                     gates * l->hidden,
                                     second * l->hidden,
                                     gates,
                                     second,
                                     gates,
                                     second};
    size_t sum = 0;
    for (size_t k = 0; k < COV_REF_N_WEIGHTS; k++)
        sum += all[k];
    memcpy(sizes, all, sizeof all);
    return sum;
}
