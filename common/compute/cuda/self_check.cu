/* self_check.cu - see self_check.h.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/compute/device.h"
}
#include "common/compute/cuda/self_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 16, CHUNKS = 3, DEPTH = 2, N_LAYERS = 6, N_VALUES = CHUNKS * LENGTH * DEPTH };

/* The largest number of floats that one array of weights has. */
enum { MOST_WEIGHTS = 4096 };

static struct cov_layer conv(enum cov_layer_kind kind, size_t t_in, size_t c_in, size_t c_out)
{
    struct cov_layer l = {};
    l.kind = kind;
    l.t_in = t_in;
    l.t_out = kind == COV_LAYER_CONV ? t_in / 2 : t_in * 2;
    l.c_in = c_in;
    l.c_out = c_out;
    l.kernel = 9;
    l.stride = 2;
    l.dilation = 1;
    l.pad = 4;
    l.norm = true;
    return l;
}

/* Two convolutions, an LSTM in both directions, two transposed ones, and the last layer. */
static void make_layers(struct cov_layer layers[N_LAYERS])
{
    memset(layers, 0, N_LAYERS * sizeof *layers);
    layers[0] = conv(COV_LAYER_CONV, LENGTH, 4, 8);
    layers[1] = conv(COV_LAYER_CONV, LENGTH / 2, 8, 12);
    struct cov_layer *lstm = &layers[2], *last = &layers[5];
    lstm->kind = COV_LAYER_LSTM;
    lstm->t_in = lstm->t_out = LENGTH / 4;
    lstm->c_in = 12;
    lstm->hidden = 10;
    lstm->directions = 2;
    lstm->c_out = 20;
    layers[3] = conv(COV_LAYER_CONV_TRANSPOSED, LENGTH / 4, 20, 12);
    layers[4] = conv(COV_LAYER_CONV_TRANSPOSED, LENGTH / 2, 12, 4);
    last->kind = COV_LAYER_LINEAR_EXP;
    last->t_in = last->t_out = LENGTH;
    last->c_in = 4;
    last->c_out = DEPTH;
    last->kernel = last->stride = last->dilation = 1;
}

/* Weights of all layers: windows of one array of random numbers, positive ones for the norm. */
static void make_weights(const float *plus_minus, const float *positive,
                         struct cov_layer_weights weights[N_LAYERS])
{
    for (size_t i = 0; i < N_LAYERS; i++) {
        const float *v = plus_minus + 61 * i;
        struct cov_layer_weights *w = &weights[i];
        w->weight = v;
        w->bias = w->beta = w->mean = v + 7;
        w->gamma = w->var = positive + i;
        for (size_t d = 0; d < 2; d++) {
            w->w_ih[d] = v + 11 * d;
            w->w_hh[d] = v + 17 * (d + 1);
            w->b_ih[d] = v + 3 * d;
            w->b_hh[d] = v + 5 * d;
        }
    }
}

/* What the reference says of codes[CHUNKS, LENGTH]. */
static int reference(const struct cov_layer *layers, const struct cov_layer_weights *weights,
                     const uint8_t *codes, float *values, struct cov_err *e)
{
    struct cov_cpu_options options = {};
    struct cov_device *dev;
    struct cov_program *p = NULL;
    options.levels = "scalar";
    int rc = cov_device_open_cpu(&options, &dev, e);
    if (rc)
        return rc;
    const struct cov_program_spec spec = {layers, weights, N_LAYERS, 1, CHUNKS};
    rc = dev->ops->program_new(dev, &spec, &p, e);
    if (!rc)
        rc = p->ops->forward(p, 0, CHUNKS, codes, values, e);
    cov_program_free(p);
    cov_device_close(dev);
    return rc;
}

static int on_card(const struct cov_cuda_cards *cards, size_t which,
                   struct cov_cuda_arithmetic arithmetic, size_t shared_bytes,
                   const struct cov_layer *layers, const struct cov_layer_weights *weights,
                   const uint8_t *codes, float *values, struct cov_err *e)
{
    struct cov_cuda_cards one = {};
    struct cov_cuda_plan plan;
    struct cov_program *p = NULL;
    one.n = 1;
    one.card[0] = cards->card[which];
    int rc = cov_cuda_plan_init(layers, weights, N_LAYERS, arithmetic, shared_bytes, &plan, e);
    if (rc) {
        cov_cuda_plan_fini(&plan);
        return rc;
    }
    rc = cov_cuda_program_new(&one, &plan, 1, CHUNKS, &p, e);
    if (!rc)
        rc = p->ops->forward(p, 0, CHUNKS, codes, values, e);
    cov_program_free(p);
    return rc;
}

/* Larger than rounding of the kind could make it, smaller than an error would. */
static double allowed(struct cov_cuda_arithmetic a)
{
    bool exact = (a.conv == COV_CUDA_FP32 || a.conv == COV_CUDA_TF32X3) &&
                 (a.lstm == COV_CUDA_FP32 || a.lstm == COV_CUDA_TF32X3);
    return exact ? 1e-4 : 0.1;
}

int cov_cuda_self_check(const struct cov_cuda_cards *cards, size_t which,
                        struct cov_cuda_arithmetic arithmetic, size_t shared_bytes,
                        struct cov_err *e)
{
    struct cov_layer layers[N_LAYERS];
    struct cov_layer_weights weights[N_LAYERS] = {};
    uint8_t codes[CHUNKS * LENGTH];
    float want[N_VALUES], got[N_VALUES], positive[64];
    struct cov_rng rng;
    float *plus_minus = (float *)cov_malloc(MOST_WEIGHTS, sizeof *plus_minus, e);
    if (!plus_minus)
        return COV_ENOMEM;
    cov_rng_init(&rng, 1);
    for (size_t i = 0; i < MOST_WEIGHTS; i++)
        plus_minus[i] = (float)(0.4 * cov_rng_double(&rng) - 0.2);
    for (float &v : positive)
        v = (float)(0.5 + cov_rng_double(&rng));
    for (size_t i = 0; i < CHUNKS * LENGTH; i++)
        codes[i] = i < CHUNKS * LENGTH - 5 ? (uint8_t)cov_rng_below(&rng, 15) + 1 : 0;
    make_layers(layers);
    make_weights(plus_minus, positive, weights);
    int rc = reference(layers, weights, codes, want, e);
    if (!rc)
        rc = on_card(cards, which, arithmetic, shared_bytes, layers, weights, codes, got, e);
    double most = 0;
    for (size_t i = 0; !rc && i < N_VALUES; i++) {
        double d = fabs((double)got[i] - (double)want[i]) / fabs((double)want[i]);
        if (!(d <= most))
            most = isnan(d) ? INFINITY : d;
    }
    free(plus_minus);
    if (!rc && !(most <= allowed(arithmetic)))
        return cov_fail(
            e, COV_EIO,
            "%s computes wrong values: a small network is off by %.2g, %.2g are allowed",
            cards->card[which].name, most, allowed(arithmetic));
    return rc;
}
