/* test_net.c - the network on a mock device; and gradients of inputs: sums equal those of predictions,
 * gradients equal differences of sums, and results depend neither on threads nor on the other chunks
 * of a batch.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/net/net.h"
#include "common/net/shape.h"
#include "tests/lib/make_training.h"
#include "tests/lib/reference/ref_train.h"

struct mock_program {
    struct cov_program base;
    size_t n_layers, T;
    float first_weight;
    unsigned n_workers;
    size_t max_batch;
};

static int n_programs;

static int forward(struct cov_program *base, unsigned worker, size_t n, const uint8_t *codes,
                   float *out, struct cov_err *e)
{
    const struct mock_program *p = (const struct mock_program *)base;
    if (worker >= p->n_workers || n > p->max_batch)
        return cov_fail(e, COV_EIO, "too many");
    for (size_t i = 0; i < n * p->T; i++)
        out[i] = codes[i] ? p->first_weight + (float)codes[i] : COV_PAD_VALUE;
    return COV_OK;
}

static void program_free(struct cov_program *p)
{
    free(p);
    n_programs--;
}

static size_t sum_of_programs; /* n_programs of all calls */

static int program_new(struct cov_device *dev, const struct cov_program_spec *spec,
                       struct cov_program **out, struct cov_err *e)
{
    static const struct cov_program_ops ops = {.forward = forward, .free = program_free};
    sum_of_programs += spec->n_programs;
    if (spec->max_batch == 99)
        return cov_fail(e, COV_EUNSUPPORTED, "99");
    struct mock_program *p = must(malloc(sizeof *p));
    *p = (struct mock_program){.base.ops = &ops,
                               .n_layers = spec->n_layers,
                               .T = spec->layers[0].t_in,
                               .first_weight = spec->weights[0].weight[0],
                               .n_workers = spec->n_workers,
                               .max_batch = spec->max_batch};
    *out = &p->base;
    n_programs++;
    return COV_OK;
}

static const struct cov_device_ops ops = {.name = "mock", .program_new = program_new};

static const struct cov_hparams cnn = {
    .model_type = COV_MODEL_CNN,
    .cnn_layers = 1,
    .filter_size = 2,
    .kernel_size = 3,
    .step = 2,
    .up = 1,
    .dilation = 1,
    .input_size = 4,
    .output_size = 1,
};

enum { N_FLOATS = 2 * 4 * 3 + 2 + 2 * 4 * 3 + 4 + 4 + 1 };

TEST(runs_on_device)
{
    struct cov_device dev = {&ops};
    struct cov_net *net;
    float block[N_FLOATS] = {10}, values[4];
    static const uint8_t codes[4] = {1, 2, 4, 8};
    assert_ok(cov_net_new(&dev, &cnn, block, (struct cov_net_size){2, 3, 2}, &net, &e));
    assert_int_equal(n_programs, 1);
    block[0] = 0; /* the device has its own copy */
    assert_ok(cov_net_forward(net, 2, 2, codes, values, &e));
    assert_true(values[0] == 11 && values[1] == 12 && values[2] == 14 && values[3] == 18);
    assert_fails(cov_net_forward(net, 3, 1, codes, values, &e), COV_EIO, "too many");
    cov_net_free(net);
    assert_int_equal(n_programs, 0);
    cov_net_free(NULL);
}

TEST(averages)
{
    struct cov_device dev = {&ops};
    struct cov_net *net;
    float blocks[3][N_FLOATS] = {{10}, {13}, {16}}, values[8];
    static const uint8_t codes[4] = {1, 2, 0, 8};
    struct cov_net_member members[3];
    for (size_t i = 0; i < 3; i++)
        members[i] = (struct cov_net_member){&cnn, blocks[i]};
    const struct cov_net_size size = {2, 2, 2};
    sum_of_programs = 0;
    assert_ok(cov_net_new_ensemble(&dev, members, 3, false, size, &net, &e));
    assert_int_equal(sum_of_programs, 3 + 2 + 1);
    assert_int_equal(n_programs, 3);
    assert_ok(cov_net_forward(net, 1, 2, codes, values, &e));
    assert_true(values[0] == 14 && values[1] == 15 && values[2] == COV_PAD_VALUE &&
                values[3] == 21);
    assert_fails(cov_net_forward(net, 2, 1, codes, values, &e), COV_EIO, "too many");
    cov_net_free(net);
    assert_int_equal(n_programs, 0);
    assert_ok(cov_net_new_ensemble(&dev, members, 3, true, size, &net, &e));
    assert_ok(cov_net_forward(net, 0, 2, codes, values, &e));
    static const float wanted[8] = {14, 3, 15, 3, COV_PAD_VALUE, COV_PAD_VALUE, 21, 3};
    assert_memory_equal(values, wanted, sizeof wanted);
    cov_net_free(net);
    struct cov_hparams bad = cnn;
    bad.up = -1;
    members[1].hp = &bad;
    assert_fails(cov_net_new_ensemble(&dev, members, 3, true, size, &net, &e), COV_EINPUT,
                 "up is -1");
    assert_null(net);
    assert_int_equal(n_programs, 0);
}

TEST(refuses)
{
    struct cov_device dev = {&ops};
    struct cov_net *net = (struct cov_net *)&dev;
    float block[N_FLOATS] = {0};
    assert_fails(cov_net_new(&dev, &cnn, block, (struct cov_net_size){3, 1, 1}, &net, &e),
                 COV_EINPUT, "subsequence length 3 is not a multiple of 2");
    assert_null(net);
    struct cov_hparams bad = cnn;
    bad.up = -1;
    assert_fails(cov_net_new(&dev, &bad, block, (struct cov_net_size){2, 1, 1}, &net, &e),
                 COV_EINPUT, "up is -1");
    assert_fails(cov_net_new(&dev, &cnn, block, (struct cov_net_size){2, 1, 99}, &net, &e),
                 COV_EUNSUPPORTED, "99");
    assert_null(net);
    assert_int_equal(n_programs, 0);
}

/* ---- gradients ---- */

enum { L = 96, CHUNKS = 3, DATASET = 1, OUTPUTS = 2, N_INPUTS = CHUNKS * L * 4 };

enum { N_NETWORKS = 3 };

static struct cov_hparams network_of(size_t i)
{
    static const struct {
        int64_t kernel, filters, up, hidden;
    } kinds[N_NETWORKS] = {{5, 6, 1, 1}, {9, 8, 2, 7}, {6, 5, 1, 9}};
    const int64_t n = (int64_t)i;
    struct cov_hparams hp =
        toy_network((enum cov_model_type)i, n + 1, kinds[i].kernel, 2, 1, i > 0);
    hp.filter_size = kinds[i].filters;
    hp.up = kinds[i].up;
    hp.lstm_layers = n;
    hp.hidden_size = kinds[i].hidden;
    hp.dropout = i == 2 ? 0.4 : 0;
    return hp;
}

static const size_t beg[CHUNKS] = {0, 17, 40}, end[CHUNKS] = {L, 31, 41};

struct toy {
    struct cov_hparams hp;
    struct cov_params params;
    float *block;
    struct cov_device *dev;
    struct cov_pool *pool;
    struct cov_explainer *x;
    uint8_t codes[CHUNKS * L];
    float inputs[N_INPUTS];
};

/* Weights are large, so that inputs matter; norms have running statistics other than 0 and 1. */
static void toy_init(struct toy *t, size_t network, unsigned threads)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    t->hp = network_of(network);
    assert_ok(cov_params_init(&t->hp, &t->params, &e));
    t->block = toy_block(&t->hp, &t->params, 8);
    for (size_t i = 0; i < t->params.n_items; i++) {
        const struct cov_param *p = &t->params.items[i];
        for (size_t k = 0; p->trained && t->hp.bnorm && k < p->n; k++)
            t->block[p->offset + k] *= 1.5F;
        for (size_t k = 0; !p->trained && k < p->n; k++)
            t->block[p->offset + k] += (float)(0.8 * cov_rng_double(&rng) - 0.4);
    }
    assert_ok(cov_device_open_cpu(NULL, &t->dev, &e));
    assert_ok(cov_pool_new(threads, &t->pool, &e));
    const struct cov_explainer_options options = {&t->hp, t->block, L, CHUNKS, t->pool};
    assert_ok(cov_explainer_new(t->dev, &options, &t->x, &e));
    for (size_t i = 0; i < (size_t)CHUNKS * L; i++) {
        t->codes[i] = (uint8_t)(1U << cov_rng_below(&rng, 4));
        memcpy(t->inputs + 4 * i, cov_onehot_f32[t->codes[i]], 4 * sizeof *t->inputs);
    }
}

static void toy_fini(struct toy *t)
{
    cov_explainer_free(t->x);
    cov_pool_free(t->pool);
    cov_device_close(t->dev);
    cov_params_fini(&t->params);
}

static void run(const struct toy *t, size_t first, size_t n, const float *inputs, double *sums,
                float *gradient)
{
    const struct cov_explain_batch batch = {n, inputs, DATASET, beg + first, end + first};
    assert_ok(cov_explainer_run(t->x, &batch, sums, gradient, &e));
}

static void check_sums(const struct toy *t, const double *sums)
{
    static float values[CHUNKS * L * OUTPUTS];
    const struct cov_net_size size = {L, 1, CHUNKS};
    struct cov_net *net;
    assert_ok(cov_net_new(t->dev, &t->hp, t->block, size, &net, &e));
    assert_ok(cov_net_forward(net, 0, CHUNKS, t->codes, values, &e));
    for (size_t b = 0; b < CHUNKS; b++) {
        double sum = 0;
        for (size_t i = beg[b]; i < end[b]; i++)
            sum += (double)values[(b * L + i) * OUTPUTS + DATASET];
        assert_true(fabs(sums[b] - sum) < 1e-5 * sum);
    }
    cov_net_free(net);
}

/* Compares the slopes of the sums along some directions, in which no input should lower them. The
 * values are rounded to single precision. */
static void check_slopes(const struct toy *t, const float *gradient)
{
    const float h = 5e-4F;
    static float moved[2][N_INPUTS], unused[N_INPUTS];
    struct cov_rng rng;
    double sums[2][CHUNKS], largest[CHUNKS] = {0}, error[CHUNKS] = {0};
    cov_rng_init(&rng, 1);
    for (int k = 0; k < 20; k++) {
        double slopes[CHUNKS] = {0};
        for (size_t i = 0; i < N_INPUTS; i++) {
            const float v = copysignf((float)cov_rng_double(&rng), gradient[i]);
            moved[0][i] = t->inputs[i] - h * v;
            moved[1][i] = t->inputs[i] + h * v;
            slopes[i / ((size_t)L * 4)] += (double)v * (double)gradient[i];
        }
        run(t, 0, CHUNKS, moved[0], sums[0], unused);
        run(t, 0, CHUNKS, moved[1], sums[1], unused);
        for (size_t b = 0; b < CHUNKS; b++) {
            const double slope = (sums[1][b] - sums[0][b]) / (2 * (double)h);
            largest[b] = fmax(largest[b], fabs(slope));
            error[b] = fmax(error[b], fabs(slope - slopes[b]));
        }
    }
    for (size_t b = 0; b < CHUNKS; b++)
        if (!(error[b] < 0.01 * largest[b] + 1e-6 * sums[0][b] / (double)h))
            fail_msg("chunk %zu: slopes of up to %g differ by %g, sum %g", b, largest[b], error[b],
                     sums[0][b]);
}

TEST(gradients_are_slopes)
{
    static float gradient[N_INPUTS];
    double sums[CHUNKS];
    for (size_t i = 0; i < N_NETWORKS; i++) {
        struct toy t;
        toy_init(&t, i, 2);
        run(&t, 0, CHUNKS, t.inputs, sums, gradient);
        check_sums(&t, sums);
        check_slopes(&t, gradient);
        toy_fini(&t);
    }
}

TEST(only_chunks_decide)
{
    static float all[N_INPUTS], other[N_INPUTS];
    double sums[CHUNKS], others[CHUNKS];
    for (size_t i = 0; i < N_NETWORKS; i++)
        for (unsigned threads = 1; threads < 4; threads++) {
            struct toy t;
            toy_init(&t, i, threads);
            if (threads == 1)
                run(&t, 0, CHUNKS, t.inputs, sums, all);
            for (size_t b = 0; b < CHUNKS; b++)
                run(&t, b, 1, t.inputs + b * L * 4, others + b, other + b * L * 4);
            assert_memory_equal(sums, others, sizeof sums);
            assert_memory_equal(all, other, sizeof all);
            toy_fini(&t);
        }
}

TEST(the_reference_cannot)
{
    const struct cov_cpu_options cpu = {.levels = "scalar"};
    const struct cov_hparams hp = network_of(0);
    struct cov_params params;
    struct cov_device *dev;
    struct cov_explainer *x;
    assert_ok(cov_params_init(&hp, &params, &e));
    const struct cov_explainer_options options = {&hp, toy_block(&hp, &params, 8), L, CHUNKS, NULL};
    assert_ok(cov_device_open_cpu(&cpu, &dev, &e));
    assert_fails(cov_explainer_new(dev, &options, &x, &e), COV_EUNSUPPORTED,
                 "--cpu scalar: only predicts; training and gradients need base or a higher level");
    assert_null(x);
    cov_device_close(dev);
    assert_fails(cov_explainer_new(cov_ref_training_device(), &options, &x, &e), COV_EUNSUPPORTED,
                 "does not compute gradients of bases");
    assert_null(x);
    cov_params_fini(&params);
}
