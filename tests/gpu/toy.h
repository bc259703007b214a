/* toy.h - networks and batches for check_training and check_host, and their gradients. Those of make_toy are well
 * conditioned: rounding changes no sign before a ReLU in single precision, and few in other precisions.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_GPU_TOY_H
#define TESTS_GPU_TOY_H

extern "C" {
#include "common/base/pool.h"
#include "common/compute/dropout.h"
#include "common/net/train.h"
#include "tests/lib/reference/ref_train.h"
}

#include "tests/gpu/rig.h"

/* A network with parameters, and a batch. */
struct Toy {
    struct cov_hparams hp;
    size_t L, n;
    struct cov_params params;
    std::vector<float> block;
    std::vector<uint8_t> codes;
    std::vector<float> targets, loss_weights; /* loss_weights: empty, or [outputs] */
    std::vector<char> present;
    std::vector<char> frozen; /* by parameter; empty: none */
};

/* Bases and a few ambiguity codes. The second half of the last chunk and all of chunk 2 are padding.
 * One target in four, never the first, is missing and NaN. */
inline void draw_batch(Toy *t, struct cov_rng *rng)
{
    size_t outputs = (size_t)t->hp.output_size;
    t->codes.resize(t->n * t->L);
    t->targets.resize(t->n * t->L * outputs);
    t->present.resize(t->n * outputs);
    for (uint8_t &code : t->codes)
        code = cov_rng_below(rng, 20) ? draw_base(rng) : (uint8_t)draw(rng, 1, 15);
    for (size_t i = t->L / 2; i < t->L; i++)
        t->codes[(t->n - 1) * t->L + i] = COV_CODE_PAD;
    if (t->n > 3)
        memset(&t->codes[2 * t->L], COV_CODE_PAD, t->L);
    for (size_t i = 0; i < t->present.size(); i++)
        t->present[i] = i == 0 || cov_rng_below(rng, 4) > 0;
    for (size_t i = 0; i < t->targets.size(); i++) {
        size_t row = i / (t->L * outputs) * outputs + i % outputs;
        bool masked = cov_rng_below(rng, 8) == 0;
        float target = masked ? COV_TARGET_MASKED : (float)cov_rng_below(rng, 400) / 100;
        t->targets[i] = t->present[row] ? target : NAN;
    }
}

/* Of the gradients that are compared. */
const uint64_t DROPOUT_SEED = 3, DROPOUT_STEP = 5;

/* The reference's forward pass, layer by layer. */
struct Pass {
    const Toy *toy;
    struct cov_layers shape;
    std::vector<double> block, x; /* parameters; the input of the next layer */

    double *param(const float *p)
    {
        return &block[(size_t)(p - toy->block.data())];
    }
};

/* Sets y[t_out, c_out] to the output of layer i for chunk b: the sums of a convolution, or an LSTM's output
 * after dropout. */
inline void run_chunk(Pass *pass, size_t i, size_t b, double *y)
{
    const struct cov_layer &l = pass->shape.layers[i];
    const struct cov_layer_weights &w = pass->shape.weights[i];
    const double *x = &pass->x[b * l.t_in * l.c_in];
    if (l.kind != COV_LAYER_LSTM) {
        cov_ref_sums(&l, pass->param(w.weight), pass->param(w.bias), x, y);
        return;
    }
    std::vector<double> gates(4 * l.t_in * l.hidden), cells(l.t_in * l.hidden);
    for (size_t d = 0; d < l.directions; d++) {
        const struct cov_ref_lstm s = {pass->param(w.w_ih[d]), pass->param(w.w_hh[d]),
                                       pass->param(w.b_ih[d]), pass->param(w.b_hh[d]),
                                       gates.data(),           cells.data()};
        cov_ref_lstm(&l, d, &s, x, y);
    }
    double p = pass->shape.layers[i + 1].kind == COV_LAYER_LSTM ? pass->toy->hp.dropout : 0;
    uint64_t key = cov_dropout_key(DROPOUT_SEED, DROPOUT_STEP, i, b);
    for (size_t k = 0; p > 0 && k < l.t_out * l.c_out; k++) {
        uint64_t at = cov_dropout_place(k / l.c_out, l.c_out) + k % l.c_out;
        y[k] = cov_dropout_bits(key, at) < cov_dropout_limit(p) ? 0 : y[k] / (1 - p);
    }
}

/* Returns the middle of the widest gap between values of the central half. */
inline double widest_gap(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    size_t at = v.size() / 4, end = v.size() - v.size() / 4;
    for (size_t k = at; k + 1 < end; k++)
        at = v[k + 1] - v[k] > v[at + 1] - v[at] ? k : at;
    return v.size() < 2 ? 0 : (v[at] + v[at + 1]) / 2;
}

/* Moves a bias so that none of its channel's sums z[0], z[c], ... is near 0. Then sets the sums to those after
 * ReLU and norm. */
inline void finish_channel(float *bias, const double *gamma, const double *beta, double *z,
                           size_t rows, size_t c)
{
    std::vector<double> v(rows);
    double sums[2] = {};
    for (size_t k = 0; k < rows; k++)
        v[k] = z[k * c];
    float before = *bias;
    *bias = (float)((double)before - widest_gap(v));
    for (double &r : v)
        r = std::max(0.0, r + ((double)*bias - (double)before));
    if (gamma) {
        cov_ref_norm_sums(rows, 1, v.data(), sums);
        double mean = sums[0] / (double)rows, var = sums[1] / (double)rows - mean * mean,
               rstd = 1 / sqrt(std::max(0.0, var) + COV_NORM_EPS);
        const struct cov_ref_norm norm = {&mean, &rstd, gamma, beta};
        cov_ref_norm(rows, 1, &norm, v.data(), v.data());
    }
    for (size_t k = 0; k < rows; k++)
        z[k * c] = v[k];
}

/* Moves the biases before ReLUs so that about half of each channel's sums are negative, and none is near 0.
 * Otherwise rounding would change the sign of a few sums of a large network, each of which adds or removes a
 * position's gradient; and a channel that is 0 nearly everywhere would have huge values after its norm. */
inline void move_biases(Toy *t)
{
    struct cov_err e = COV_ERR_INIT;
    Pass pass = {t, {}, {t->block.begin(), t->block.end()}, {}};
    must(cov_shape(&t->hp, t->L, &t->params, t->block.data(), &pass.shape, &e), &e);
    for (uint8_t code : t->codes)
        pass.x.insert(pass.x.end(), cov_onehot_f32[code], cov_onehot_f32[code] + 4);
    for (size_t i = 0; i + 1 < pass.shape.n; i++) {
        const struct cov_layer &l = pass.shape.layers[i];
        const struct cov_layer_weights &w = pass.shape.weights[i];
        std::vector<double> y(t->n * l.t_out * l.c_out);
        in_threads(t->n, [&](size_t b) { run_chunk(&pass, i, b, &y[b * l.t_out * l.c_out]); });
        for (size_t c = 0; l.kind != COV_LAYER_LSTM && c < l.c_out; c++)
            finish_channel(&t->block[(size_t)(w.bias - t->block.data()) + c],
                           l.norm ? pass.param(w.gamma) + c : NULL,
                           l.norm ? pass.param(w.beta) + c : NULL, &y[c], t->n * l.t_out, l.c_out);
        pass.x = y;
    }
    cov_layers_fini(&pass.shape);
}

inline Toy make_toy(const struct cov_hparams &hp, size_t L, size_t n, uint64_t seed)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_rng rng;
    Toy t;
    t.hp = hp;
    t.L = L;
    t.n = n;
    must(cov_params_init(&hp, &t.params, &e), &e);
    t.block.resize(t.params.n_floats);
    cov_params_randomize(&hp, &t.params, seed, t.block.data());
    cov_rng_init(&rng, seed);
    for (size_t i = 0; i < t.params.n_items; i++) {
        const struct cov_param &p = t.params.items[i];
        bool norm =
            p.trained && p.n_dims == 1 && (t.block[p.offset] == 0 || t.block[p.offset] == 1);
        for (size_t k = 0; norm && k < p.n; k++)
            t.block[p.offset + k] += (float)(cov_rng_double(&rng) - 0.5);
    }
    /* Smaller outputs: the loss would amplify the rounding of large ones, since it is exponential. */
    const struct cov_param *out = cov_params_find(&t.params, "out.weight");
    for (size_t k = 0; k < out->n; k++)
        t.block[out->offset + k] /= 2;
    draw_batch(&t, &rng);
    move_biases(&t);
    return t;
}

inline struct cov_train_batch batch_of(const Toy &t, size_t beg, size_t end)
{
    size_t outputs = (size_t)t.hp.output_size;
    struct cov_train_batch b = {};
    b.n = end - beg;
    b.codes = t.codes.data() + beg * t.L;
    b.targets = t.targets.data() + beg * t.L * outputs;
    b.present = (const bool *)t.present.data() + beg * outputs;
    b.first = beg;
    return b;
}

struct Gradient {
    std::vector<float> v;
    struct cov_train_score score;
};

/* Sets *g to the gradient and score of the first n chunks of the batch. */
inline int find_gradient(struct cov_device *dev, const Toy &t, size_t n, Gradient *g,
                         struct cov_err *e, bool recompute = false)
{
    struct cov_pool *pool;
    struct cov_layers shape;
    struct cov_training *training = NULL;
    struct cov_training_spec spec = {};
    struct cov_train_batch batch = batch_of(t, 0, n);
    spec.block = t.block.data();
    spec.n_floats = t.params.n_floats;
    spec.max_batch = t.n + 1;
    spec.dropout = t.hp.dropout;
    spec.seed = DROPOUT_SEED;
    spec.recompute = recompute;
    spec.loss_weights = t.loss_weights.empty() ? NULL : t.loss_weights.data();
    must(cov_pool_new(2, &pool, e), e);
    must(cov_shape(&t.hp, t.L, &t.params, t.block.data(), &shape, e), e);
    spec.layers = shape.layers;
    spec.weights = shape.weights;
    spec.n_layers = shape.n;
    spec.pool = pool;
    g->v.resize(spec.n_floats);
    int rc = dev->ops->training_new(dev, &spec, &training, e);
    if (!rc)
        rc = training->gradients->load(training, e);
    if (!rc)
        rc = training->gradients->run(training, DROPOUT_STEP, &batch, g->v.data(), &g->score, e);
    cov_training_free(training);
    cov_layers_fini(&shape);
    cov_pool_free(pool);
    return rc;
}

#endif
