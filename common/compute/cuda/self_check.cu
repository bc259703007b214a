/* self_check.cu - the check of a card (cuda_cards.h).
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/compute/device.h"
#include "common/seq/alphabet.h"
}
#include "common/compute/cuda/cuda_cards.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A network of the published size runs the same kernels: those of products with up to 8, 64 and more
 * columns, and those of LSTMs with 128 units, in single precision with one sequence per block. A
 * second, small LSTM saves time. The sequences of a prediction fill more than one block of an LSTM. */
enum { LENGTH = 48, CHUNKS = 9, DEPTH = 2, N_LAYERS = 9, N_VALUES = CHUNKS * LENGTH * DEPTH };
enum { FEW = 8, SOME = 40, MANY = 72 };
enum { TRAINED = 4 /* the last chunks */, MAX_ITEMS = 8 * N_LAYERS /* parameters */ };

/* ---- the network ---- */

/* A network with its parameters, and a batch. */
struct sample {
    struct cov_layer layers[N_LAYERS];
    struct cov_layer_weights weights[N_LAYERS];
    float *block;
    size_t n_floats, n_items;
    size_t ends[MAX_ITEMS + 1]; /* parameter k of the block: floats [ends[k], ends[k + 1]) */
    size_t items[N_LAYERS + 1]; /* layer i has parameters [items[i], items[i + 1]) */
    uint8_t codes[CHUNKS * LENGTH];
    float targets[N_VALUES];
    bool present[CHUNKS * DEPTH];
};

/* Makes three convolutions, two LSTMs in both directions, three transposed convolutions, and the last
 * layer. */
static void make_layers(struct cov_layer layers[N_LAYERS])
{
    const struct {
        enum cov_layer_kind kind;
        size_t t_in, c_in, t_out, c_out;
    } shapes[N_LAYERS] = {
        {COV_LAYER_CONV, LENGTH, 4, LENGTH / 2, FEW},
        {COV_LAYER_CONV, LENGTH / 2, FEW, LENGTH / 4, SOME},
        {COV_LAYER_CONV, LENGTH / 4, SOME, LENGTH / 8, MANY},
        {COV_LAYER_LSTM, LENGTH / 8, MANY, LENGTH / 8, 2 * COV_CUDA_LSTM_UNITS},
        {COV_LAYER_LSTM, LENGTH / 8, 2 * COV_CUDA_LSTM_UNITS, LENGTH / 8, SOME},
        {COV_LAYER_CONV_TRANSPOSED, LENGTH / 8, SOME, LENGTH / 4, MANY},
        {COV_LAYER_CONV_TRANSPOSED, LENGTH / 4, MANY, LENGTH / 2, SOME},
        {COV_LAYER_CONV_TRANSPOSED, LENGTH / 2, SOME, LENGTH, FEW / 2},
        {COV_LAYER_LINEAR_EXP, LENGTH, FEW / 2, LENGTH, DEPTH},
    };
    memset(layers, 0, N_LAYERS * sizeof *layers);
    for (size_t i = 0; i < N_LAYERS; i++) {
        struct cov_layer *l = &layers[i];
        l->kind = shapes[i].kind;
        l->t_in = shapes[i].t_in;
        l->c_in = shapes[i].c_in;
        l->t_out = shapes[i].t_out;
        l->c_out = shapes[i].c_out;
        l->norm = l->kind == COV_LAYER_CONV || l->kind == COV_LAYER_CONV_TRANSPOSED;
        l->kernel = l->norm ? 9 : 1;
        l->stride = l->norm ? 2 : 1;
        l->dilation = 1;
        l->pad = l->norm ? 4 : 0;
        l->directions = l->kind == COV_LAYER_LSTM ? 2 : 0;
        l->hidden = l->directions ? l->c_out / 2 : 0;
    }
}

/* Fills the next n floats of the block with random numbers in [low, high). */
static const float *fill_next(struct sample *s, size_t n, struct cov_rng *rng, double low,
                              double high)
{
    float *v = s->block + s->n_floats;
    for (size_t i = 0; i < n; i++)
        v[i] = (float)(low + (high - low) * cov_rng_double(rng));
    s->n_floats += n;
    s->ends[++s->n_items] = s->n_floats;
    return v;
}

static size_t count_floats(const struct cov_layer layers[N_LAYERS])
{
    size_t n = 0;
    for (size_t i = 0; i < N_LAYERS; i++) {
        const struct cov_layer *l = &layers[i];
        n += l->kind == COV_LAYER_LSTM ? l->directions * 4 * l->hidden * (l->c_in + l->hidden + 2)
                                       : l->c_in * l->c_out * l->kernel + 5 * l->c_out;
    }
    return n;
}

/* Draws all parameters from [-0.2, 0.2); the scales of norms are positive. Biases before a ReLU are
 * higher by `raised` times the deviation of the sum that they are added to, if its inputs are about 1.
 */
static void make_weights(struct sample *s, double raised, struct cov_rng *rng)
{
    const double low = -0.2, high = 0.2, deviation = high / sqrt(3);
    for (size_t i = 0; i < N_LAYERS; i++) {
        const struct cov_layer *l = &s->layers[i];
        struct cov_layer_weights *w = &s->weights[i];
        for (size_t d = 0; d < l->directions; d++) {
            w->w_ih[d] = fill_next(s, 4 * l->hidden * l->c_in, rng, low, high);
            w->w_hh[d] = fill_next(s, 4 * l->hidden * l->hidden, rng, low, high);
            w->b_ih[d] = fill_next(s, 4 * l->hidden, rng, low, high);
            w->b_hh[d] = fill_next(s, 4 * l->hidden, rng, low, high);
        }
        if (l->kind != COV_LAYER_LSTM) {
            size_t terms = l->c_in * l->kernel;
            if (l->kind == COV_LAYER_CONV_TRANSPOSED)
                terms /= l->stride;
            double by = l->norm ? raised * deviation * sqrt((double)terms) : 0;
            w->weight = fill_next(s, l->c_in * l->c_out * l->kernel, rng, low, high);
            w->bias = fill_next(s, l->c_out, rng, low + by, high + by);
        }
        if (l->norm) {
            w->beta = fill_next(s, l->c_out, rng, low, high);
            w->mean = fill_next(s, l->c_out, rng, low, high);
            w->gamma = fill_next(s, l->c_out, rng, 0.5, 1.5);
            w->var = fill_next(s, l->c_out, rng, 0.5, 1.5);
        }
        s->items[i + 1] = s->n_items;
    }
}

/* Free s->block afterwards. */
static int make_sample(struct sample *s, double raised, struct cov_err *e)
{
    struct cov_rng rng;
    memset(s, 0, sizeof *s);
    make_layers(s->layers);
    s->block = (float *)cov_malloc(count_floats(s->layers), sizeof *s->block, e);
    if (!s->block)
        return COV_ENOMEM;
    cov_rng_init(&rng, 5);
    make_weights(s, raised, &rng);
    for (size_t i = 0; i < CHUNKS * LENGTH; i++) { /* the last chunk has padding */
        bool base = i < CHUNKS * LENGTH - LENGTH / 2 - 5;
        s->codes[i] = base ? (uint8_t)(1 + cov_rng_below(&rng, 15)) : (uint8_t)COV_CODE_PAD;
    }
    for (float &target : s->targets)
        target = (float)cov_rng_below(&rng, 6) - 1; /* -1: masked */
    for (size_t i = 0; i < CHUNKS * DEPTH; i++)
        s->present[i] = i != 3;
    return COV_OK;
}

/* Returns true if the precision equals single precision, up to rounding. */
static bool is_exact(struct cov_cuda_arithmetic a)
{
    return (a.conv == COV_CUDA_FP32 || a.conv == COV_CUDA_TF32X3) &&
           (a.lstm == COV_CUDA_FP32 || a.lstm == COV_CUDA_TF32X3);
}

/* ---- checks that passed ---- */

/* A check of our kernels that passed in this process. */
struct pass {
    int training, card;
    struct cov_cuda_arithmetic arithmetic;
    size_t shared_bytes;
};

static struct {
    pthread_mutex_t lock;
    size_t n;
    struct pass all[4 * COV_CUDA_MAX_CARDS]; /* more are checked again */
} passes = {PTHREAD_MUTEX_INITIALIZER, 0, {}};

static bool same_pass(const struct pass *a, const struct pass *b)
{
    return a->training == b->training && a->card == b->card &&
           a->arithmetic.conv == b->arithmetic.conv && a->arithmetic.lstm == b->arithmetic.lstm &&
           a->arithmetic.float_sums == b->arithmetic.float_sums &&
           a->arithmetic.wgmma == b->arithmetic.wgmma && a->shared_bytes == b->shared_bytes;
}

static bool has_passed(const struct pass *p)
{
    bool found = false;
    pthread_mutex_lock(&passes.lock);
    for (size_t i = 0; i < passes.n; i++)
        found = found || same_pass(&passes.all[i], p);
    pthread_mutex_unlock(&passes.lock);
    return found;
}

static void note_pass(const struct pass *p)
{
    pthread_mutex_lock(&passes.lock);
    if (passes.n < COV_COUNT(passes.all))
        passes.all[passes.n++] = *p;
    pthread_mutex_unlock(&passes.lock);
}

/* ---- prediction ---- */

/* Sets the values of the sample, and frees the program. */
static int run_program(const struct sample *s, struct cov_program *p, float *values,
                       struct cov_err *e)
{
    int rc = p->ops->forward(p, 0, CHUNKS, s->codes, values, e);
    cov_program_free(p);
    return rc;
}

/* Returns the larger of `most` and d, or infinity if d is not a number. */
static double larger(double most, double d)
{
    return d <= most ? most : isnan(d) ? INFINITY : d;
}

/* Returns the largest error of the logarithms of dataset d, relative to their standard deviation: the last
 * layer's bias would hide errors in the values themselves. */
static double value_error(const struct sample *s, const float *got, const float *want, size_t d)
{
    double most = 0, sum = 0, squares = 0, n = 0;
    for (size_t i = 0; i < CHUNKS * LENGTH; i++) {
        float v = got[i * DEPTH + d], ref = want[i * DEPTH + d];
        if (s->codes[i] == COV_CODE_PAD) {
            most = v == ref ? most : INFINITY;
            continue;
        }
        double z = log((double)ref);
        n++;
        sum += z;
        squares += z * z;
        most = larger(most, fabs(log((double)v) - z));
    }
    return most / sqrt(squares / n - sum / n * (sum / n));
}

/* Sets `values` to those that the card computes. */
static int predict_on(const struct cov_cuda_cards *card, const struct sample *s, float *values,
                      struct cov_err *e)
{
    const struct cov_program_spec spec = {s->layers, s->weights, N_LAYERS, 1, CHUNKS, 1};
    struct cov_program *p;
    int rc = cov_cuda_program_new(card, &spec, &p, e);
    return rc ? rc : run_program(s, p, values, e);
}

/* Sets *off to the error of a card's prediction. With products by warpgroups, it is compared with that of
 * the other kernels, too: they round the same operands, so that a smaller difference is wrong. */
static int predict(const struct cov_cuda_cards *cards, size_t which, double *off, struct cov_err *e)
{
    struct cov_cuda_cards one = *cards;
    struct cov_device *cpu = NULL;
    struct cov_program *p;
    struct sample s;
    const double STRICT = 5;
    float want[N_VALUES], got[N_VALUES], other[N_VALUES];
    one.n = 1;
    one.card[0] = cards->card[which];
    int rc = make_sample(&s, 0, e);
    const struct cov_program_spec spec = {s.layers, s.weights, N_LAYERS, 1, CHUNKS, 1};
    if (!rc)
        rc = cov_device_open_cpu(NULL, &cpu, e);
    if (!rc)
        rc = cpu->ops->program_new(cpu, &spec, &p, e);
    if (!rc)
        rc = run_program(&s, p, want, e);
    if (!rc)
        rc = predict_on(&one, &s, got, e);
    for (size_t d = 0; !rc && d < DEPTH; d++)
        *off = larger(*off, value_error(&s, got, want, d));
    if (!rc && one.arithmetic.wgmma) {
        one.arithmetic.wgmma = false;
        rc = predict_on(&one, &s, other, e);
        for (size_t d = 0; !rc && d < DEPTH; d++)
            *off = larger(*off, STRICT * value_error(&s, got, other, d));
    }
    cov_device_close(cpu);
    free(s.block);
    return rc;
}

/* ---- training ---- */

/* Far enough from 0 that rounding changes few signs before ReLUs, each of which would change gradients
 * much; some values are negative even so. */
static const double RAISED = 2;

static struct cov_training_spec spec_of(const struct sample *s, struct cov_pool *pool)
{
    struct cov_training_spec spec = {};
    spec.layers = s->layers;
    spec.weights = s->weights;
    spec.n_layers = N_LAYERS;
    spec.block = s->block;
    spec.n_floats = s->n_floats;
    spec.max_batch = TRAINED;
    spec.dropout = 0.25;
    spec.seed = 1;
    spec.pool = pool;
    return spec;
}

/* Sets gradient[n_floats] to the gradient of the sample's batch. Frees the training. The batch runs twice,
 * because a card runs the second of a size as a graph. */
static int run_gradient(const struct sample *s, struct cov_training *t, float *gradient,
                        struct cov_err *e)
{
    struct cov_train_batch b = {};
    struct cov_train_score score;
    b.n = TRAINED;
    b.codes = s->codes + (CHUNKS - TRAINED) * LENGTH;
    b.targets = s->targets;
    b.present = s->present;
    int rc = t->gradients->load(t, e);
    for (int i = 0; i < 2 && !rc; i++)
        rc = t->gradients->run(t, 1, &b, gradient, &score, e);
    cov_training_free(t);
    return rc;
}

/* Returns the square of the length of a gradient's part [beg, end), or of its error if `from` is not
 * NULL. */
static double square_of(const float *v, const float *from, size_t beg, size_t end)
{
    double sum = 0;
    for (size_t i = beg; i < end; i++) {
        double d = (double)v[i] - (from ? (double)from[i] : 0);
        sum += d * d;
    }
    return sum;
}

/* Returns the largest error of a parameter's gradient in layer i. It is relative to the length of that
 * gradient plus a tenth of the layer's, because that of a bias before a norm is nearly 0. */
static double gradient_error(const struct sample *s, const float *got, const float *want, size_t i)
{
    const size_t *ends = s->ends;
    double layer = square_of(want, NULL, ends[s->items[i]], ends[s->items[i + 1]]), most = 0;
    for (size_t k = s->items[i]; k < s->items[i + 1]; k++) {
        double own = square_of(want, NULL, ends[k], ends[k + 1]);
        double error = square_of(got, want, ends[k], ends[k + 1]);
        most = larger(most, sqrt(error) / (sqrt(own) + 0.1 * sqrt(layer)));
    }
    return most;
}

/* Sets *off to the largest error of a parameter's gradient on a card. */
static int train(const struct cov_cuda_cards *cards, size_t which, struct cov_pool *pool,
                 double *off, struct cov_err *e)
{
    const struct cov_cuda_seat seat = {cards, which, NULL};
    struct cov_device *cpu = NULL;
    struct cov_training *t;
    struct cov_err why = COV_ERR_INIT;
    struct sample s;
    int rc = make_sample(&s, RAISED, e);
    if (rc)
        return rc;
    const struct cov_training_spec spec = spec_of(&s, pool);
    float *got = (float *)cov_calloc(s.n_floats, sizeof *got, e);
    float *want = (float *)cov_malloc(s.n_floats, sizeof *want, e);
    rc = got && want ? cov_device_open_cpu(NULL, &cpu, e) : COV_ENOMEM;
    if (!rc)
        rc = cpu->ops->training_new(cpu, &spec, &t, e);
    if (!rc)
        rc = run_gradient(&s, t, want, e);
    if (!rc)
        rc = cov_cuda_training_new(&seat, &spec, &t, e);
    if (!rc) {
        rc = run_gradient(&s, t, got, &why);
        if (rc == COV_EINPUT) { /* a sum is not finite */
            *off = INFINITY;
            rc = COV_OK;
        } else if (rc) {
            (void)cov_fail(e, rc, "%s", why.text);
        }
    }
    for (size_t i = 0; !rc && i < N_LAYERS; i++)
        *off = larger(*off, gradient_error(&s, got, want, i));
    cov_device_close(cpu);
    free(s.block);
    free(got);
    free(want);
    return rc;
}

/* ---- both ---- */

int cov_cuda_self_check(const struct cov_cuda_cards *cards, size_t which, struct cov_pool *pool,
                        struct cov_err *e)
{
    const char *const name = cards->card[which].name, *const what = pool ? "gradients" : "values";
    /* Several times the rounding errors, and far below the error of a wrong kernel. */
    const double allowed = is_exact(cards->arithmetic) ? 1e-4 : pool ? 0.1 : 0.05;
    const struct pass pass = {pool != NULL, cards->card[which].index, cards->arithmetic,
                              cards->shared_bytes};
    double off = 0;
    if (!cards->cublas && has_passed(&pass))
        return COV_OK;
    int rc = pool ? train(cards, which, pool, &off, e) : predict(cards, which, &off, e);
    if (rc)
        return rc;
    cov_debug("%s: self-check of %s off by %.2g, %.2g allowed", name, what, off, allowed);
    if (!(off <= allowed))
        return cov_fail(e, COV_EIO,
                        "%s computes wrong %s: a small network is off by %.2g, %.2g allowed", name,
                        what, off, allowed);
    if (!cards->cublas)
        note_pass(&pass);
    return COV_OK;
}
