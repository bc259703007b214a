/* test_training.c - compares fast training with the scalar reference at every level of the
 * CPU: the score, gradients and statistics of random networks. The number of threads does not
 * change a bit.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/pool.h"
#include "common/compute/cpu/cpu_program.h"
#include "common/compute/cpu/kernels/operands.h"
#include "tests/lib/make_training.h"
#include "tests/lib/reference/ref_train.h"

static size_t draw(struct cov_rng *rng, size_t low, size_t high)
{
    return low + cov_rng_below(rng, high - low + 1);
}

struct toy {
    struct cov_hparams hp;
    size_t L;
    struct cov_params params;
    float *block;
    struct toy_data data;
};

static void toy_init(struct toy *t, const struct cov_hparams *hp, size_t L, size_t n, uint64_t seed)
{
    t->hp = *hp;
    t->L = L;
    assert_ok(cov_params_init(hp, &t->params, &e));
    t->block = toy_block(hp, &t->params, seed);
    toy_data_init(&t->data, n, L, (size_t)hp->output_size, seed + 1);
}

static void toy_fini(struct toy *t)
{
    cov_params_fini(&t->params);
    unit_free();
}

struct how {
    unsigned threads;
    bool recompute;
    size_t first_trained;
    bool direct; /* no minimal filtering */
};

/* Stands for the scalar reference, which has no options. */
static const struct cov_cpu_options reference;

/* Computes gradient[n_floats] of the batch. */
static struct cov_train_score run(const struct toy *t, const struct cov_cpu_options *options,
                                  struct how how, float *gradient)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_device *dev = cov_ref_training_device();
    const bool is_fast = options != &reference;
    struct cov_pool *pool = NULL;
    struct cov_layers shape = {0};
    struct cov_training *training;
    struct cov_train_score score;
    struct cov_training_spec spec = {.block = t->block,
                                     .n_floats = t->params.n_floats,
                                     .max_batch = t->data.n + 1,
                                     .dropout = t->hp.dropout,
                                     .first_trained = how.first_trained,
                                     .recompute = how.recompute,
                                     .seed = 3};
    if ((is_fast && cov_device_open_cpu(options, &dev, &e)) ||
        cov_pool_new(how.threads, &pool, &e) ||
        cov_shape(&t->hp, t->L, &t->params, t->block, &shape, &e))
        fail_msg("%s", e.text);
    if (how.direct)
        ((struct cov_cpu_device *)dev)->kernels.minimal = NULL;
    spec.layers = shape.layers;
    spec.weights = shape.weights;
    spec.n_layers = shape.n;
    spec.pool = pool;
    const struct cov_train_batch batch = toy_batch(&t->data, 0, t->data.n);
    for (size_t i = 0; i < spec.n_floats; i++)
        gradient[i] = 1e9F; /* is replaced everywhere */
    if (dev->ops->training_new(dev, &spec, &training, &e) ||
        training->gradients->load(training, &e) ||
        /* What an earlier batch leaves must not matter. */
        (how.recompute && training->gradients->run(training, 4, &batch, gradient, &score, &e)) ||
        training->gradients->run(training, 5, &batch, gradient, &score, &e))
        fail_msg("%s", e.text);
    cov_training_free(training);
    cov_layers_fini(&shape);
    cov_pool_free(pool);
    cov_device_close(dev);
    return score;
}

/* Returns the largest difference between two gradients of a parameter, relative to the parameter's
 * largest gradient. */
static double difference(const struct toy *t, const float *got, const float *want)
{
    double worst = 0;
    for (size_t k = 0; k < t->params.n_items; k++) {
        const struct cov_param *p = &t->params.items[k];
        double largest = 1e-3, off = 0;
        for (size_t i = p->offset; i < p->offset + p->n; i++) {
            double error = fabs((double)got[i] - (double)want[i]);
            largest = fmax(largest, fabs((double)want[i]));
            off = error <= off ? off : error; /* also for NaN */
        }
        worst = off / largest <= worst ? worst : off / largest;
    }
    return worst;
}

static bool is_there(const char *level)
{
    char all[128];
    cov_device_describe_levels(all, sizeof all);
    return strstr(all, level) != NULL;
}

/* Trains one network at a level. Returns the difference from the reference. */
static double compare(const struct toy *t, const char *level, enum cov_precision precision,
                      bool direct, const float *want, const struct cov_train_score *score)
{
    const struct cov_cpu_options options = {.levels = level, .precision = precision};
    size_t n = t->params.n_floats;
    float *got = unit_zeros(n * sizeof *got), *again = unit_zeros(n * sizeof *again);
    struct cov_train_score s = run(t, &options, (struct how){1, false, 0, direct}, got);
    double bound = precision == COV_PRECISION_BF16 ? 2e-2 : 1e-5;
    assert_int_equal(s.n_rows, score->n_rows);
    assert_true(fabs(s.loss - score->loss) <= bound * (1 + fabs(score->loss)));
    assert_true(fabs(s.accuracy - score->accuracy) <= bound);
    for (unsigned threads = 2; threads <= 9; threads += threads == 3 ? 6 : 1) {
        (void)run(t, &options, (struct how){threads, false, 0, direct}, again);
        assert_memory_equal(got, again, n * sizeof *got);
    }
    return difference(t, got, want);
}

static const char *const levels[] = {"base", "avx2", "avx512", "avx512bf16"};

static struct cov_hparams draw_network(struct cov_rng *rng, size_t i)
{
    static const int64_t kernels[][3] = {/* kernel, step, dilation */
                                         {9, 2, 1}, {5, 1, 1}, {4, 2, 1}, {7, 3, 1},
                                         {8, 2, 1}, {3, 2, 2}, {6, 3, 1}, {3, 1, 3}};
    const int64_t *k = kernels[i % COV_COUNT(kernels)];
    return (struct cov_hparams){.model_type = (enum cov_model_type)(i % 3),
                                .cnn_layers = (int64_t)draw(rng, 1, 2),
                                .filter_size = (int64_t)draw(rng, 1, 40),
                                .kernel_size = k[0],
                                .step = k[1],
                                .up = (int64_t)draw(rng, 1, 2),
                                .dilation = k[2],
                                .lstm_layers = (int64_t)draw(rng, 1, 2),
                                .hidden_size = (int64_t)draw(rng, 1, 37),
                                .input_size = 4,
                                .output_size = (int64_t)draw(rng, 1, 3),
                                .bnorm = i % 4 != 1,
                                .dropout = i % 5 == 2 ? 0.25 : 0};
}

/* Compares one network at one level with the scalar reference. */
static double check(const struct cov_hparams *hp, size_t L, size_t n, const char *level,
                    bool direct, uint64_t seed)
{
    struct toy t;
    double off = 0;
    toy_init(&t, hp, L, n, seed);
    float *want = unit_zeros(t.params.n_floats * sizeof *want);
    struct cov_train_score score = run(&t, &reference, (struct how){2, false, 0, false}, want);
    if (is_there(level)) {
        off = compare(&t, level, COV_PRECISION_FP32, direct, want, &score);
        if (!(off <= 2e-4))
            fail_msg("kernel %d, step %d, dilation %d, %s: gradients differ by %.3g",
                     (int)hp->kernel_size, (int)hp->step, (int)hp->dilation, level, off);
    }
    toy_fini(&t);
    return off;
}

TEST(agrees_with_the_reference)
{
    struct cov_rng rng;
    double worst = 0;
    cov_rng_init(&rng, 77);
    for (size_t i = 0; i < 48; i++) {
        struct cov_hparams hp = draw_network(&rng, i);
        size_t L = (size_t)(hp.step * hp.step) * draw(&rng, 1, 30), n = draw(&rng, 1, 9);
        double off = check(&hp, L, n, levels[i % COV_COUNT(levels)], i % 7 == 3, 100 + i);
        worst = off > worst ? off : worst;
    }
    (void)printf("# largest difference %.2g\n", worst);
    (void)fflush(stdout);
}

/* Trains convolutions that are wide enough for minimal filtering of gradients, with 5, 4, 3 and 2
 * taps, and with phases of different lengths; and an LSTM that is wide enough for Winograd's inner
 * product. */
TEST(trains_wide_layers)
{
    static const int64_t kinds[][4] = {/* kernel, step, filters, up */
                                       {9, 2, 96, 2},
                                       {8, 2, 97, 2},
                                       {7, 3, 67, 3},
                                       {5, 3, 64, 3},
                                       {5, 1, 192, 1}};
    double worst = 0;
    for (size_t i = 0; i < COV_COUNT(kinds); i++) {
        const struct cov_hparams hp = {.model_type = i == 0 ? COV_MODEL_BI_HYBRID : COV_MODEL_CNN,
                                       .cnn_layers = 2,
                                       .filter_size = kinds[i][2],
                                       .kernel_size = kinds[i][0],
                                       .step = kinds[i][1],
                                       .up = kinds[i][3],
                                       .dilation = 1,
                                       .lstm_layers = 1,
                                       .hidden_size = 70,
                                       .input_size = 4,
                                       .output_size = 1,
                                       .bnorm = true};
        size_t L = (size_t)(hp.step * hp.step) * 21;
        double off = check(&hp, L, 2, levels[i % 3], false, 200 + i);
        worst = off > worst ? off : worst;
        off = check(&hp, L, 2, "avx512bf16", false, 200 + i);
        worst = off > worst ? off : worst;
    }
    (void)printf("# largest difference %.2g\n", worst);
    (void)fflush(stdout);
}

/* Recomputed activations are the same, bit for bit. */
TEST(recomputes_the_same_bits)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 78);
    for (size_t i = 0; i < 48; i++) {
        struct cov_hparams hp = draw_network(&rng, i);
        hp.cnn_layers = (int64_t)(1 + i / 3 % 3);
        hp.lstm_layers = (int64_t)(1 + i / 2 % 3);
        hp.dropout = i % 2 ? 0.25 : 0;
        size_t L = draw(&rng, 1, 12), n = draw(&rng, 1, 9);
        for (int64_t k = 0; k < hp.cnn_layers; k++)
            L *= (size_t)hp.step;
        struct toy t;
        toy_init(&t, &hp, L, n, 400 + i);
        size_t n_floats = t.params.n_floats, first = i % 4 == 3 ? draw(&rng, 1, 3) : 0;
        float *kept = unit_zeros(n_floats * sizeof *kept);
        float *again = unit_zeros(n_floats * sizeof *again);
        struct cov_train_score a = run(&t, NULL, (struct how){2, false, first, false}, kept);
        struct cov_train_score b = run(&t, NULL, (struct how){3, true, first, false}, again);
        assert_true(a.loss == b.loss && a.accuracy == b.accuracy && a.n_rows == b.n_rows);
        assert_memory_equal(kept, again, n_floats * sizeof *kept);
        assert_true(first == 0 || kept[0] == 0);
        toy_fini(&t);
    }
}

/* Returns the angle between two gradients, as 1 - cosine. */
static double angle(const struct toy *t, const float *a, const float *b)
{
    double product = 0, of_a = 0, of_b = 0;
    for (size_t k = 0; k < t->params.n_items; k++) {
        const struct cov_param *p = &t->params.items[k];
        for (size_t j = p->offset; p->trained && j < p->offset + p->n; j++) {
            product += (double)a[j] * (double)b[j];
            of_a += (double)a[j] * (double)a[j];
            of_b += (double)b[j] * (double)b[j];
        }
    }
    return 1 - product / sqrt(of_a * of_b);
}

/* Returns the angle by which the reference's gradient turns if only the parameters are rounded to
 * bf16, which changes the sign of some sums before ReLUs. */
static double turned_by_rounding(const struct toy *t, const float *want, float *got)
{
    struct toy rounded = *t;
    rounded.block = unit_zeros(t->params.n_floats * sizeof *rounded.block);
    for (size_t i = 0; i < t->params.n_floats; i++)
        rounded.block[i] = cov_bf16_round(t->block[i]);
    (void)run(&rounded, NULL, (struct how){2, false, 0, false}, got);
    return angle(t, got, want);
}

/* Compares only the direction of the gradient, since the products are rounded. Rounding of
 * parameters, activations and gradients may turn it half as far again as that of parameters
 * alone. */
static void train_in_bf16(const struct cov_hparams *hp)
{
    static const char *const with_bf16[] = {"avx512bf16", "amx"};
    struct toy t;
    toy_init(&t, hp, 400, 3, 300);
    size_t n = t.params.n_floats;
    float *want = unit_zeros(n * sizeof *want), *got = unit_zeros(n * sizeof *got);
    struct cov_train_score score = run(&t, NULL, (struct how){2, false, 0, false}, want);
    double expected = turned_by_rounding(&t, want, got);
    for (size_t i = 0; i < COV_COUNT(with_bf16); i++) {
        const struct cov_cpu_options options = {.levels = with_bf16[i],
                                                .precision = COV_PRECISION_BF16};
        struct cov_device *dev;
        if (cov_device_open_cpu(&options, &dev, NULL))
            continue;
        bool rounds = strcmp(dev->ops->precision(dev), "bf16") == 0;
        cov_device_close(dev);
        struct cov_train_score s = run(&t, &options, (struct how){3, false, 0, false}, got);
        double turned = angle(&t, got, want);
        (void)printf("# %s: loss off by %.2g, 1 - cosine %.2g, %.2g by rounding parameters\n",
                     with_bf16[i], fabs(s.loss - score.loss), turned, expected);
        assert_true(fabs(s.loss - score.loss) < 5e-3 * fabs(score.loss));
        assert_true(turned < 1.5 * expected);
        assert_true(!rounds || turned > 1e-9);
    }
    (void)fflush(stdout);
    toy_fini(&t);
}

/* The first and the last convolution are not rounded, so if there are no others, nothing is. */
TEST(rounds_no_outer_convolution)
{
    struct cov_hparams hp = cov_hparams_published;
    struct toy t;
    float *gradients[2];
    double loss[2];
    hp.model_type = COV_MODEL_CNN;
    hp.cnn_layers = 1;
    hp.filter_size = 96;
    hp.dropout = 0;
    toy_init(&t, &hp, 200, 3, 302);
    const size_t n = t.params.n_floats * sizeof *gradients[0];
    for (int i = 0; i < 2; i++) {
        const struct cov_cpu_options options = {.precision =
                                                    i ? COV_PRECISION_BF16 : COV_PRECISION_FP32};
        gradients[i] = unit_zeros(n);
        loss[i] = run(&t, &options, (struct how){2, false, 0, false}, gradients[i]).loss;
    }
    assert_true(loss[0] == loss[1]);
    assert_memory_equal(gradients[0], gradients[1], n);
    toy_fini(&t);
}

TEST(trains_in_bf16)
{
    struct cov_hparams hp = cov_hparams_published;
    hp.cnn_layers = 2;
    hp.filter_size = 24;
    hp.hidden_size = 40;
    hp.dropout = 0;
    train_in_bf16(&hp);
    hp.model_type = COV_MODEL_CNN; /* wide enough for minimal filtering */
    hp.filter_size = 96;
    train_in_bf16(&hp);
}
