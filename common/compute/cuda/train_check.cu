/* train_check.cu - see train_check.h.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/compute/device.h"
}
#include "common/compute/cuda/cuda_training.h"
#include "common/compute/cuda/train_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 16, CHUNKS = 3, DEPTH = 2, N_LAYERS = 5, HIDDEN = 10, CHANNELS = 12, STEP = 1 };

/* A network with its parameters, and a batch. */
struct sample {
    struct cov_layer layers[N_LAYERS];
    struct cov_layer_weights weights[N_LAYERS];
    float *block;
    size_t n_floats;
    uint8_t codes[CHUNKS * LENGTH];
    float targets[CHUNKS * LENGTH * DEPTH];
    bool present[CHUNKS * DEPTH];
};

static void set_layer(struct cov_layer *l, enum cov_layer_kind kind, size_t t_in, size_t c_in,
                      size_t t_out, size_t c_out)
{
    bool conv = kind == COV_LAYER_CONV || kind == COV_LAYER_CONV_TRANSPOSED;
    l->kind = kind;
    l->t_in = t_in;
    l->t_out = t_out;
    l->c_in = c_in;
    l->c_out = c_out;
    l->kernel = conv ? 9 : 1;
    l->stride = conv ? 2 : 1;
    l->dilation = 1;
    l->pad = conv ? 4 : 0;
    l->norm = conv;
}

/* A convolution, two LSTMs in both directions, a transposed convolution, and the last layer. */
static void make_layers(struct cov_layer layers[N_LAYERS])
{
    memset(layers, 0, N_LAYERS * sizeof *layers);
    set_layer(&layers[0], COV_LAYER_CONV, LENGTH, 4, LENGTH / 2, CHANNELS);
    for (int i = 1; i <= 2; i++) {
        set_layer(&layers[i], COV_LAYER_LSTM, LENGTH / 2, layers[i - 1].c_out, LENGTH / 2,
                  2 * HIDDEN);
        layers[i].hidden = HIDDEN;
        layers[i].directions = 2;
    }
    set_layer(&layers[3], COV_LAYER_CONV_TRANSPOSED, LENGTH / 2, 2 * HIDDEN, LENGTH, CHANNELS);
    set_layer(&layers[4], COV_LAYER_LINEAR_EXP, LENGTH, CHANNELS, LENGTH, DEPTH);
}

/* The next n floats of the block; NULL if there is no block yet. */
static const float *next(const float *block, size_t *n_floats, size_t n)
{
    const float *at = block ? block + *n_floats : NULL;
    *n_floats += n;
    return at;
}

/* Lays the weights down in the block; returns how many floats they are. */
static size_t place_weights(const struct cov_layer layers[N_LAYERS], const float *block,
                            struct cov_layer_weights weights[N_LAYERS])
{
    size_t n = 0;
    for (size_t i = 0; i < N_LAYERS; i++) {
        const struct cov_layer *l = &layers[i];
        struct cov_layer_weights *w = &weights[i];
        for (size_t d = 0; d < l->directions; d++) {
            w->w_ih[d] = next(block, &n, 4 * l->hidden * l->c_in);
            w->w_hh[d] = next(block, &n, 4 * l->hidden * l->hidden);
            w->b_ih[d] = next(block, &n, 4 * l->hidden);
            w->b_hh[d] = next(block, &n, 4 * l->hidden);
        }
        if (l->kind == COV_LAYER_LSTM)
            continue;
        w->weight = next(block, &n, l->c_in * l->c_out * l->kernel);
        const float **vectors[] = {&w->bias, &w->gamma, &w->beta, &w->mean, &w->var};
        for (int k = 0; k < (l->norm ? 5 : 1); k++)
            *vectors[k] = next(block, &n, l->c_out);
    }
    return n;
}

static int make_sample(struct sample *s, struct cov_err *e)
{
    struct cov_rng rng;
    memset(s, 0, sizeof *s);
    make_layers(s->layers);
    s->n_floats = place_weights(s->layers, NULL, s->weights);
    s->block = (float *)cov_malloc(s->n_floats, sizeof *s->block, e);
    if (!s->block)
        return COV_ENOMEM;
    (void)place_weights(s->layers, s->block, s->weights);
    cov_rng_init(&rng, 2);
    for (size_t i = 0; i < s->n_floats; i++)
        s->block[i] = (float)(0.6 * cov_rng_double(&rng) - 0.2);
    for (size_t i = 0; i < CHUNKS * LENGTH; i++)
        s->codes[i] = i < CHUNKS * LENGTH - 5 ? (uint8_t)(1 + cov_rng_below(&rng, 15)) : 0;
    for (float &target : s->targets)
        target = (float)cov_rng_below(&rng, 5);
    for (size_t i = 0; i < CHUNKS * DEPTH; i++)
        s->present[i] = i != 3;
    return COV_OK;
}

static struct cov_training_spec spec_of(const struct sample *s, struct cov_pool *pool)
{
    struct cov_training_spec spec = {};
    spec.layers = s->layers;
    spec.weights = s->weights;
    spec.n_layers = N_LAYERS;
    spec.block = s->block;
    spec.n_floats = s->n_floats;
    spec.max_batch = CHUNKS;
    spec.dropout = 0.25;
    spec.seed = 1;
    spec.pool = pool;
    return spec;
}

static struct cov_train_batch batch_of(const struct sample *s)
{
    struct cov_train_batch b = {};
    b.n = CHUNKS;
    b.codes = s->codes;
    b.targets = s->targets;
    b.present = s->present;
    return b;
}

static int reference(const struct sample *s, struct cov_pool *pool, float *gradient,
                     struct cov_err *e)
{
    struct cov_cpu_options options = {};
    struct cov_training_spec spec = spec_of(s, pool);
    struct cov_train_batch batch = batch_of(s);
    struct cov_train_score score;
    struct cov_training *t = NULL;
    struct cov_device *dev;
    options.levels = "scalar";
    int rc = cov_device_open_cpu(&options, &dev, e);
    if (rc)
        return rc;
    rc = dev->ops->training_new(dev, &spec, &t, e);
    if (!rc)
        rc = t->gradients->load(t, e);
    if (!rc)
        rc = t->gradients->run(t, STEP, &batch, gradient, &score, e);
    cov_training_free(t);
    cov_device_close(dev);
    return rc;
}

static int on_card(const struct sample *s, const struct cov_cuda_cards *cards,
                   struct cov_cuda_arithmetic arithmetic, size_t shared_bytes,
                   struct cov_pool *pool, float *gradient, struct cov_err *e)
{
    struct cov_training_spec spec = spec_of(s, pool);
    struct cov_train_batch batch = batch_of(s);
    struct cov_train_score score;
    struct cov_training *t = NULL;
    int rc = cov_cuda_training_new(cards, &spec, arithmetic, shared_bytes, &t, e);
    if (!rc)
        rc = t->gradients->run(t, STEP, &batch, gradient, &score, e);
    cov_training_free(t);
    return rc;
}

/* Of the largest gradient: larger than rounding of the kind could make it, smaller than an error
 * would. */
static double allowed(struct cov_cuda_arithmetic a)
{
    bool exact = (a.conv == COV_CUDA_FP32 || a.conv == COV_CUDA_TF32X3) &&
                 (a.lstm == COV_CUDA_FP32 || a.lstm == COV_CUDA_TF32X3);
    return exact ? 1e-3 : 0.1;
}

int cov_cuda_train_check(const struct cov_cuda_cards *cards, struct cov_cuda_arithmetic arithmetic,
                         size_t shared_bytes, struct cov_pool *pool, struct cov_err *e)
{
    struct sample s;
    float *got = NULL, *want = NULL;
    double off = 0, largest = 0;
    int rc = make_sample(&s, e);
    if (!rc) {
        got = (float *)cov_malloc(s.n_floats, sizeof *got, e);
        want = (float *)cov_malloc(s.n_floats, sizeof *want, e);
        rc = got && want ? COV_OK : COV_ENOMEM;
    }
    if (!rc)
        rc = reference(&s, pool, want, e);
    if (!rc)
        rc = on_card(&s, cards, arithmetic, shared_bytes, pool, got, e);
    for (size_t i = 0; !rc && i < s.n_floats; i++) {
        double d = fabs((double)got[i] - (double)want[i]);
        largest = fmax(largest, fabs((double)want[i]));
        off = d <= off ? off : d; /* takes NaN */
    }
    free(s.block);
    free(got);
    free(want);
    if (!rc && !(off <= allowed(arithmetic) * largest))
        return cov_fail(e, COV_EIO,
                        "%s computes wrong gradients: those of a small network are off by %.2g, "
                        "%.2g are allowed",
                        cards->card[0].name, off / largest, allowed(arithmetic));
    return rc;
}
