/* test_training_ref.c - checks the scalar reference of training: compares every gradient with
 * central differences in double, and the statistics of the norms with their definition.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/pool.h"
#include "tests/lib/make_training.h"
#include "tests/lib/reference/ref_train.h"

/* A network that is trained by the reference. */
struct toy {
    struct cov_params params;
    float *block;
    double *precise; /* the same values in double */
    struct cov_pool *pool;
    struct cov_training *training;
    struct toy_data data;
};

static void toy_init(struct toy *t, const struct cov_hparams *hp, size_t L, size_t n,
                     const float *loss_weights, uint64_t seed)
{
    struct cov_layers shape;
    struct cov_training_spec spec = {
        .max_batch = n, .dropout = hp->dropout, .seed = seed, .loss_weights = loss_weights};
    assert_ok(cov_hparams_check(hp, &e));
    assert_ok(cov_params_init(hp, &t->params, &e));
    t->block = toy_block(hp, &t->params, seed);
    t->precise = unit_alloc(t->params.n_floats * sizeof *t->precise);
    for (size_t i = 0; i < t->params.n_floats; i++)
        t->precise[i] = (double)t->block[i];
    assert_ok(cov_shape(hp, L, &t->params, t->block, &shape, &e));
    assert_ok(cov_pool_new(2, &t->pool, &e));
    spec.layers = shape.layers;
    spec.weights = shape.weights;
    spec.n_layers = shape.n;
    spec.block = t->block;
    spec.n_floats = t->params.n_floats;
    spec.pool = t->pool;
    assert_ok(cov_ref_training_new(NULL, &spec, &t->training, &e));
    toy_data_init(&t->data, n, L, (size_t)hp->output_size, seed + 1);
    cov_layers_fini(&shape);
}

static void toy_fini(struct toy *t)
{
    cov_training_free(t->training);
    cov_pool_free(t->pool);
    cov_params_fini(&t->params);
}

static struct cov_train_score run(struct toy *t, double *gradient)
{
    struct cov_train_score score;
    struct cov_train_batch batch = toy_batch(&t->data, 0, t->data.n);
    assert_ok(
        cov_ref_training_run_double(t->training, 7, t->precise, &batch, gradient, &score, &e));
    return score;
}

/* Checks the gradient of every parameter of a network. */
static void check(const struct cov_hparams *hp, size_t L, const float *loss_weights, uint64_t seed)
{
    const double h = 1e-6;
    struct toy t;
    toy_init(&t, hp, L, 3, loss_weights, seed);
    size_t n = t.params.n_floats;
    double *gradient = unit_alloc(n * sizeof *gradient), *unused = unit_alloc(n * sizeof *unused);
    (void)run(&t, gradient);
    double largest = 0, worst = 0;
    for (size_t i = 0; i < n; i++)
        largest = fabs(gradient[i]) > largest ? fabs(gradient[i]) : largest;
    for (size_t k = 0; k < t.params.n_items; k++) {
        const struct cov_param *p = &t.params.items[k];
        for (size_t i = p->offset; p->trained && i < p->offset + p->n; i++) {
            double at = t.precise[i];
            t.precise[i] = at + h;
            double above = run(&t, unused).loss;
            t.precise[i] = at - h;
            double below = run(&t, unused).loss;
            t.precise[i] = at;
            double error = fabs((above - below) / (2 * h) - gradient[i]);
            if (!(error <= 1e-7 * largest + 1e-6 * fabs(gradient[i])))
                fail_msg("%s[%zu]: %.9g, by differences %.9g", p->name, i - p->offset, gradient[i],
                         (above - below) / (2 * h));
            worst = error > worst ? error : worst;
        }
    }
    assert_true(largest > 1e-3);
    (void)printf("# %zu parameters, largest gradient %.3g, largest difference %.2g\n", n, largest,
                 worst);
    toy_fini(&t);
}

TEST(convolutions)
{
    static const struct {
        int64_t kernel, step, dilation;
        bool bnorm;
    } kinds[] = {{5, 1, 1, false}, {5, 2, 1, true}, {4, 2, 1, true}, {7, 3, 1, true},
                 {6, 3, 1, false}, {3, 2, 2, true}, {4, 2, 2, true}, {3, 1, 3, true}};
    for (size_t i = 0; i < COV_COUNT(kinds); i++) {
        struct cov_hparams hp = toy_network(COV_MODEL_CNN, 2, kinds[i].kernel, kinds[i].step,
                                            kinds[i].dilation, kinds[i].bnorm);
        check(&hp, (size_t)(kinds[i].step * kinds[i].step) * 5, NULL, 10 + i);
    }
}

TEST(lstms)
{
    struct cov_hparams hp = toy_network(COV_MODEL_HYBRID, 1, 5, 2, 1, true);
    check(&hp, 14, NULL, 30);
    hp = toy_network(COV_MODEL_BI_HYBRID, 1, 4, 2, 1, false);
    check(&hp, 12, NULL, 31);
}

TEST(dropout)
{
    struct cov_hparams hp = toy_network(COV_MODEL_BI_HYBRID, 1, 3, 2, 1, true);
    hp.dropout = 0.4;
    check(&hp, 12, NULL, 40);
}

TEST(loss_weights)
{
    static const float weights[] = {2, 0.25F};
    struct cov_hparams hp = toy_network(COV_MODEL_CNN, 1, 3, 1, 1, false);
    check(&hp, 9, weights, 50);
}

/* Masked positions count as little as padding, for the same values of the network. */
TEST(masks)
{
    enum { N = 40 };
    uint8_t codes[N], padded[N];
    float targets[N], masked[N];
    double p[N], d[N], wanted[N], loss[2], accuracy[2];
    for (size_t i = 0; i < N; i++) {
        bool out = i % 4 == 2;
        codes[i] = COV_CODE_A;
        padded[i] = out ? COV_CODE_PAD : COV_CODE_A;
        targets[i] = (float)(i * i % 7);
        masked[i] = out ? COV_TARGET_MASKED : targets[i];
        p[i] = (double)(i * 3 % 11) / 8;
    }
    assert_int_equal(cov_ref_row_score(N, 1, codes, p, masked, &loss[0], &accuracy[0]), N * 3 / 4);
    assert_int_equal(cov_ref_row_score(N, 1, padded, p, targets, &loss[1], &accuracy[1]),
                     N * 3 / 4);
    assert_true(loss[0] == loss[1] && accuracy[0] == accuracy[1]);
    cov_ref_row_backward(N, 1, codes, p, masked, 0.5, d);
    cov_ref_row_backward(N, 1, padded, p, targets, 0.5, wanted);
    assert_memory_equal(d, wanted, sizeof d);
}

/* In place of gradients, the running statistics get the batch's mean and unbiased variance. This
 * test compares those of the first norm with their definition. */
TEST(statistics)
{
    struct cov_hparams hp = toy_network(COV_MODEL_CNN, 1, 1, 1, 1, true);
    struct toy t;
    hp.filter_size = 1;
    toy_init(&t, &hp, 8, 2, NULL, 63);
    double *gradient = unit_zeros(t.params.n_floats * sizeof *gradient);
    static const double weights[] = {0.5, -0.4, 0.25, 0.125, 0.0625};
    memcpy(t.precise, weights, sizeof weights); /* including the bias */
    (void)run(&t, gradient);
    double r[16], mean = 0, var = 0;
    for (size_t i = 0; i < 16; i++) {
        const float *x = cov_onehot_f32[t.data.codes[i]];
        double sum = weights[4];
        for (size_t c = 0; c < 4; c++)
            sum += weights[c] * (double)x[c];
        r[i] = sum < 0 ? 0 : sum;
        mean += r[i] / 16;
    }
    for (size_t i = 0; i < 16; i++)
        var += (r[i] - mean) * (r[i] - mean) / 15;
    const struct cov_param *p = cov_params_find(&t.params, "down_layer_list.1.running_mean");
    const struct cov_param *q = cov_params_find(&t.params, "down_layer_list.1.running_var");
    assert_true(p && q && var > 0);
    assert_true(fabs(gradient[p->offset] - mean) < 1e-12);
    assert_true(fabs(gradient[q->offset] - var) < 1e-12);
    toy_fini(&t);
}
