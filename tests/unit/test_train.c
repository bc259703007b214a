/* test_train.c - the trainer: steps, resuming, several calls per step, several processes, threads; and
 * its optimiser.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <pthread.h>

#include "common/net/train.h"
#include "tests/lib/make_training.h"

enum { L = 24, N = 6, STEPS = 3 };

static const struct cov_hparams hybrid = {.model_type = COV_MODEL_BI_HYBRID,
                                          .cnn_layers = 2,
                                          .filter_size = 5,
                                          .kernel_size = 5,
                                          .step = 2,
                                          .up = 2,
                                          .dilation = 1,
                                          .lstm_layers = 2,
                                          .hidden_size = 6,
                                          .input_size = 4,
                                          .output_size = 2,
                                          .bnorm = true,
                                          .dropout = 0.3};

static const struct cov_adam adam = {0.01, 0.9, 0.999, 1e-8, 0, 0, 0};

/* An optimiser that takes small steps for small gradients, however they are rounded. */
static const struct cov_adam steady = {0.01, 0.9, 0.999, 0.1, 0, 0, 0};

/* A trainer with its device, pool and parameters. */
struct rig {
    struct cov_device *dev;
    struct cov_pool *pool;
    struct cov_params params;
    struct cov_trainer *trainer;
};

/* Used by rig_init; NULL: no parameter is frozen. */
static const bool *frozen;

/* Of each test. */
static struct toy_data d;
static struct rig a, b;

static void rig_init(struct rig *r, const struct cov_hparams *hp, unsigned threads,
                     struct cov_train_reduce reduce)
{
    assert_ok(cov_device_open_cpu(NULL, &r->dev, &e));
    assert_ok(cov_pool_new(threads, &r->pool, &e));
    assert_ok(cov_params_init(hp, &r->params, &e));
    float *block = toy_block(hp, &r->params, 5);
    const struct cov_trainer_options options = {.hp = hp,
                                                .L = L,
                                                .max_batch = N,
                                                .seed = 9,
                                                .reduce = reduce,
                                                .pool = r->pool,
                                                .frozen = frozen};
    assert_ok(cov_trainer_new(r->dev, &options, block, &r->trainer, &e));
}

static void rig_fini(struct rig *r)
{
    cov_trainer_free(r->trainer);
    cov_params_fini(&r->params);
    cov_pool_free(r->pool);
    cov_device_close(r->dev);
}

static struct cov_train_score learn(struct rig *r, size_t beg, size_t end)
{
    struct cov_train_score score;
    struct cov_train_batch batch = toy_batch(&d, beg, end);
    assert_ok(cov_trainer_batch(r->trainer, &batch, &score, &e));
    return score;
}

static void step(struct rig *r, const struct cov_adam *how)
{
    assert_ok(cov_trainer_step(r->trainer, how, &e));
}

/* Returns the parameters, moments and average, concatenated. */
static float *state_of(const struct rig *r)
{
    size_t n = r->params.n_floats;
    float *all = unit_alloc(4 * n * sizeof *all);
    struct cov_train_state state = {all, all + n, all + 2 * n, all + 3 * n, 0};
    assert_ok(cov_trainer_read(r->trainer, &state, &e));
    return all;
}

static void assert_near(const float *x, const float *y, size_t n, double bound)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)x[i] - (double)y[i]) <= bound))
            fail_msg("element %zu: %.9g and %.9g", i, (double)x[i], (double)y[i]);
}

static const struct cov_train_reduce alone;

/* Makes the data, and two equal trainers. */
static void begin(const struct cov_hparams *hp, uint64_t seed)
{
    toy_data_init(&d, N, L, 2, seed);
    rig_init(&a, hp, 2, alone);
    rig_init(&b, hp, 2, alone);
}

static void end(void)
{
    rig_fini(&a);
    rig_fini(&b);
}

/* ---- one process ---- */

TEST(threads_do_not_matter)
{
    float *first = NULL;
    toy_data_init(&d, N, L, 2, 1);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct rig r;
        rig_init(&r, &hybrid, threads, alone);
        for (int i = 0; i < STEPS; i++) {
            (void)learn(&r, 0, N);
            step(&r, &adam);
        }
        float *all = state_of(&r);
        first = first ? first : all;
        assert_memory_equal(all, first, 4 * r.params.n_floats * sizeof *all);
        rig_fini(&r);
    }
}

TEST(loss_falls)
{
    begin(&hybrid, 2);
    double first = learn(&a, 0, N).loss, last = 0;
    step(&a, &adam);
    for (int i = 0; i < 100; i++) {
        last = learn(&a, 0, N).loss;
        step(&a, &adam);
    }
    assert_true(last < first - 0.1);
    end();
}

/* A step cuts large parameters into slices, the last of which is shorter: it changes as well, and what
 * follows it is changed once. */
TEST(changes_all_of_a_large_parameter)
{
    enum { SLICE = 1 << 16 };
    struct cov_hparams large = hybrid;
    large.model_type = COV_MODEL_CNN;
    large.filter_size = 120;
    begin(&large, 2);
    float *before = state_of(&a);
    (void)learn(&a, 0, N);
    step(&a, &adam);
    float *after = state_of(&a);
    size_t n_large = 0;
    for (size_t k = 0; k < a.params.n_items; k++) {
        const struct cov_param *p = &a.params.items[k];
        size_t n_changed = 0, beg = p->n > SLICE ? p->n - p->n % SLICE : 0;
        /* The first step of Adam is the learning rate at most, however large the gradient is. */
        for (size_t i = p->offset + beg; p->trained && i < p->offset + p->n; i++) {
            n_changed += before[i] != after[i];
            assert_true(fabsf(before[i] - after[i]) < 0.0101F);
        }
        n_large += p->n > SLICE;
        if (p->trained && p->n > SLICE)
            assert_true(n_changed > (p->n - beg) / 2);
    }
    assert_true(n_large > 0);
    end();
}

/* A trainer that is given the state of another one continues with the same bits. */
TEST(resumes)
{
    struct cov_adam averaging = adam;
    averaging.average = 0.9;
    begin(&hybrid, 3);
    (void)learn(&a, 0, N);
    step(&a, &averaging);
    (void)learn(&a, 0, 3);
    step(&a, &averaging);
    (void)learn(&b, 2, 4); /* its gradient is dropped */
    size_t n = a.params.n_floats;
    float *all = state_of(&a);
    const struct cov_train_state saved = {all, all + n, all + 2 * n, all + 3 * n, 2};
    assert_ok(cov_trainer_write(b.trainer, &saved, &e));
    assert_int_equal(cov_trainer_step(b.trainer, &averaging, NULL), COV_EUSAGE);
    for (int i = 0; i < 2; i++) {
        struct cov_train_score x = learn(&a, 1, N), y = learn(&b, 1, N);
        assert_true(x.loss == y.loss && x.accuracy == y.accuracy);
        step(&a, &averaging);
        step(&b, &averaging);
    }
    all = state_of(&a);
    float *other = state_of(&b);
    assert_memory_equal(all, other, 4 * n * sizeof *all);
    assert_true(memcmp(all, all + 3 * n, n * sizeof *all) != 0);
    end();
}

/* Without norms, two halves of a batch with the same number of rows give the same step as the whole
 * batch. Dropout draws the same numbers for both. */
TEST(several_calls_make_a_step)
{
    struct cov_hparams hp = hybrid;
    hp.bnorm = false;
    begin(&hp, 4);
    for (size_t i = 0; i < (size_t)N * 2; i++)
        d.present[i] = true;
    for (int i = 0; i < STEPS; i++) {
        struct cov_train_score whole = learn(&a, 0, N), x, y;
        x = learn(&b, 0, N / 2);
        y = learn(&b, N / 2, N);
        assert_int_equal(whole.n_rows, 2 * N);
        assert_int_equal(x.n_rows + y.n_rows, 2 * N);
        assert_true(fabs(whole.loss - (x.loss + y.loss) / 2) < 1e-5);
        assert_true(fabs(whole.accuracy - (x.accuracy + y.accuracy) / 2) < 1e-5);
        step(&a, &steady);
        step(&b, &steady);
    }
    float *all = state_of(&a), *other = state_of(&b);
    assert_near(all, other, a.params.n_floats, 3e-4);
    end();
}

/* Clipping shortens the gradient but keeps its direction. After the first step of Adam, the first
 * moment is a tenth of the gradient. */
TEST(cuts_the_gradient)
{
    struct cov_adam cut = adam;
    double length[2] = {0, 0};
    begin(&hybrid, 5);
    (void)learn(&a, 0, N);
    (void)learn(&b, 0, N);
    cut.clip = 0.125;
    step(&a, &adam);
    step(&b, &cut);
    size_t n = a.params.n_floats;
    float *all[2] = {state_of(&a), state_of(&b)};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < n; i++)
            length[k] += (double)all[k][n + i] * (double)all[k][n + i];
    assert_true(sqrt(length[0]) > 0.02);
    assert_true(fabs(sqrt(length[1]) - 0.0125) < 1e-6);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs((double)all[0][n + i] * sqrt(length[1] / length[0]) -
                         (double)all[1][n + i]) < 1e-7);
    end();
}

TEST(averages)
{
    struct cov_adam averaging = adam;
    averaging.average = 0.75;
    begin(&hybrid, 6);
    size_t n = a.params.n_floats;
    float *average = unit_alloc(n * sizeof *average);
    for (int i = 0; i < STEPS; i++) {
        (void)learn(&a, 0, N);
        step(&a, i == 0 ? &adam : &averaging);
        float *all = state_of(&a);
        for (size_t k = 0; k < n; k++)
            average[k] = i <= 1 ? all[k] : 0.75F * average[k] + 0.25F * all[k];
        assert_near(all + 3 * n, average, n, 1e-6);
    }
    end();
}

TEST(refuses_what_is_not_finite)
{
    struct cov_train_score score;
    begin(&hybrid, 7);
    float *before = state_of(&a);
    d.targets[5] = INFINITY;
    struct cov_train_batch batch = toy_batch(&d, 0, N);
    assert_fails(cov_trainer_batch(a.trainer, &batch, &score, &e), COV_EINPUT, "not finite");
    float *after = state_of(&a);
    assert_memory_equal(before, after, 4 * a.params.n_floats * sizeof *after);
    assert_int_equal(cov_trainer_step(a.trainer, &adam, NULL), COV_EUSAGE);
    /* The squares of this gradient overflow floats, unless it is clipped. */
    d.targets[5] = 1e25F;
    assert_ok(cov_trainer_batch(a.trainer, &batch, &score, &e));
    before = state_of(&a);
    assert_fails(cov_trainer_step(a.trainer, &adam, &e), COV_EINPUT,
                 "the gradient is too large: norm ");
    after = state_of(&a);
    assert_memory_equal(before, after, 4 * a.params.n_floats * sizeof *after);
    struct cov_adam cut = adam;
    cut.clip = 1;
    assert_ok(cov_trainer_batch(a.trainer, &batch, &score, &e));
    assert_ok(cov_trainer_step(a.trainer, &cut, &e));
    after = state_of(&a);
    for (size_t i = 0; i < 4 * a.params.n_floats; i++)
        assert_true(isfinite(after[i]));
    end();
}

/* Returns the number of parameters whose floats differ in two blocks. */
static size_t count_changed(const struct cov_params *params, const float *x, const float *y,
                            const bool *which, bool trained)
{
    size_t n = 0;
    for (size_t k = 0; k < params->n_items; k++) {
        const struct cov_param *p = &params->items[k];
        n += (!which || which[k]) && p->trained == trained &&
             memcmp(x + p->offset, y + p->offset, p->n * sizeof *x) != 0;
    }
    return n;
}

/* Frozen parameters do not change; the others, and running statistics, change as without. Clipping
 * measures only the gradient of the others. */
TEST(freezes)
{
    static const char *const lists[] = {"down",
                                        "down_layer_list.0 up_layer_list",
                                        "lstm",
                                        "down lstm_layer_list.0",
                                        "down lstm up",
                                        "out",
                                        "down_layer_list.0.bias",
                                        "down_layer_list.0 down_layer_list.1"};
    toy_data_init(&d, N, L, 2, 9);
    for (size_t i = 0; i < COV_COUNT(lists); i++) {
        struct rig free_rig, r;
        bool which[128] = {false};
        struct cov_adam cut = adam;
        rig_init(&free_rig, &hybrid, 2, alone);
        size_t n = free_rig.params.n_floats, n_frozen = 0;
        assert_in_range(free_rig.params.n_items, 1, COV_COUNT(which));
        for (size_t k = 0; k < free_rig.params.n_items; k++) {
            const struct cov_param *p = &free_rig.params.items[k];
            char list[200], *rest = NULL;
            (void)snprintf(list, sizeof list, "%s", lists[i]);
            for (char *name = strtok_r(list, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
                which[k] |= p->trained && strncmp(p->name, name, strlen(name)) == 0;
            n_frozen += which[k];
        }
        frozen = which;
        rig_init(&r, &hybrid, 2, alone);
        frozen = NULL;
        float *before = state_of(&r);
        (void)learn(&free_rig, 0, N);
        (void)learn(&r, 0, N);
        step(&free_rig, &adam);
        step(&r, &adam);
        float *wanted = state_of(&free_rig), *got = state_of(&r);
        size_t n_changed = count_changed(&r.params, got, wanted, NULL, true);
        assert_true(n_frozen > 0 && n_frozen < r.params.n_items);
        assert_int_equal(count_changed(&r.params, got, before, which, true), 0);
        assert_int_equal(n_changed, count_changed(&r.params, before, wanted, which, true));
        assert_int_equal(count_changed(&r.params, got, wanted, NULL, false), 0);
        assert_true(count_changed(&r.params, got, before, NULL, false) > 0);
        cut.clip = 1e-3;
        cut.average = 0.5;
        for (int k = 0; k < STEPS; k++) {
            (void)learn(&r, 0, N);
            step(&r, &cut);
        }
        got = state_of(&r);
        assert_int_equal(count_changed(&r.params, got, before, which, true), 0);
        assert_int_equal(count_changed(&r.params, got + 3 * n, before, which, true), 0);
        rig_fini(&free_rig);
        rig_fini(&r);
    }
}

/* A batch without targets or without chunks has neither a loss nor a gradient. */
TEST(learns_nothing_from_nothing)
{
    begin(&hybrid, 8);
    memset(d.present, 0, (size_t)N * 2);
    struct cov_train_score score = learn(&a, 0, N);
    assert_true(score.loss == 0 && score.accuracy == 0 && score.n_rows == 0);
    step(&a, &adam);
    float *all = state_of(&a);
    for (size_t i = 0; i < a.params.n_floats; i++)
        assert_true(all[a.params.n_floats + i] == 0);
    end();
}

/* ---- two processes ---- */

/* Computes sums over two threads. */
struct meeting {
    pthread_barrier_t barrier;
    double *v[2];
};

struct process {
    struct meeting *meeting;
    unsigned rank;
    const struct toy_data *data;
    size_t beg, end;
    double losses[STEPS];
    float *all;
    struct rig rig;
};

static int meet(void *arg, double *v, size_t n, struct cov_err *e)
{
    struct process *p = arg;
    struct meeting *m = p->meeting;
    double *mine = unit_alloc(n * sizeof *mine);
    memcpy(mine, v, n * sizeof *mine);
    m->v[p->rank] = mine;
    (void)pthread_barrier_wait(&m->barrier);
    for (size_t i = 0; i < n; i++)
        v[i] = m->v[0][i] + m->v[1][i];
    (void)pthread_barrier_wait(&m->barrier);
    return COV_OK;
}

static void *run_process(void *arg)
{
    struct process *p = arg;
    for (int i = 0; i < STEPS; i++) {
        p->losses[i] = learn(&p->rig, p->beg, p->end).loss;
        step(&p->rig, &steady);
    }
    p->all = state_of(&p->rig);
    return NULL;
}

/* Two processes share a batch; the second process gets the last `rest` chunks. */
static void share(size_t rest)
{
    struct rig one;
    struct meeting m;
    toy_data_init(&d, N, L, 2, 11);
    rig_init(&one, &hybrid, 1, alone);
    struct process p[2] = {{.meeting = &m, .data = &d, .end = N - rest},
                           {.meeting = &m, .data = &d, .rank = 1, .beg = N - rest, .end = N}};
    assert_int_equal(pthread_barrier_init(&m.barrier, NULL, 2), 0);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        rig_init(&p[i].rig, &hybrid, 1, (struct cov_train_reduce){meet, &p[i]});
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_process, &p[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    size_t n = one.params.n_floats;
    assert_memory_equal(p[0].all, p[1].all, 4 * n * sizeof(float));
    for (int i = 0; i < STEPS; i++) {
        double loss = learn(&one, 0, N).loss;
        assert_true(p[0].losses[i] == p[1].losses[i]);
        assert_true(fabs(loss - p[0].losses[i]) < 1e-5 * fabs(loss));
        step(&one, &steady);
    }
    float *all = state_of(&one);
    assert_near(all, p[0].all, n, 3e-4);
    for (int i = 0; i < 2; i++) {
        rig_fini(&p[i].rig);
    }
    (void)pthread_barrier_destroy(&m.barrier);
    rig_fini(&one);
}

TEST(processes_share_a_batch)
{
    share(N / 2);
    share(1);
    share(0);
}

/* ---- a device that cannot train ---- */

TEST(needs_a_device_that_trains)
{
    static const struct cov_device_ops ops = {.name = "mock"};
    struct cov_device dev = {&ops};
    struct cov_trainer *t;
    const struct cov_trainer_options options = {.hp = &hybrid, .L = L, .max_batch = 1};
    assert_fails(cov_trainer_new(&dev, &options, NULL, &t, &e), COV_EUNSUPPORTED,
                 "mock cannot train");
    assert_null(t);
    cov_trainer_free(NULL);
}

/* ---- Adam, compared with its definition in double precision ---- */

enum { N_VALUES = 37, N_STEPS = 50 };

static const struct cov_adam plain = {0.003, 0.9, 0.999, 1e-8, 0, 0, 0};
static const struct cov_adam decaying = {0.003, 0.8, 0.99, 1e-8, 0.5, 0, 0};

static void compare(const struct cov_adam *how)
{
    struct cov_rng rng;
    float p[N_VALUES], m[N_VALUES] = {0}, v[N_VALUES] = {0}, g[N_VALUES];
    double wanted[N_VALUES], m2[N_VALUES] = {0}, v2[N_VALUES] = {0};
    cov_rng_init(&rng, 1);
    for (int i = 0; i < N_VALUES; i++)
        wanted[i] = (double)(p[i] = (float)cov_rng_double(&rng));
    for (int step = 1; step <= N_STEPS; step++) {
        for (int i = 0; i < N_VALUES; i++) {
            /* Very different sizes; one is always 0. */
            g[i] = i == 3 ? 0 : (float)((cov_rng_double(&rng) - 0.4) * pow(10, i % 9 - 4));
            double by = (double)g[i] * 0.5;
            m2[i] = how->beta1 * m2[i] + (1 - how->beta1) * by;
            v2[i] = how->beta2 * v2[i] + (1 - how->beta2) * by * by;
            double up = m2[i] / (1 - pow(how->beta1, step));
            wanted[i] -= how->learning_rate * how->weight_decay * wanted[i];
            wanted[i] -=
                how->learning_rate * up / (sqrt(v2[i] / (1 - pow(how->beta2, step))) + how->eps);
        }
        cov_adam_step(how, step, 0.5, &(struct cov_adam_slice){N_VALUES, g, p, m, v});
    }
    for (int i = 0; i < N_VALUES; i++) {
        assert_true(fabs((double)p[i] - wanted[i]) < 2e-6);
        assert_true(fabs((double)m[i] - m2[i]) <= 1e-5 * fabs(m2[i]) + 1e-12);
        assert_true(fabs((double)v[i] - v2[i]) <= 1e-5 * v2[i]);
    }
    assert_true(fabs(wanted[0] - wanted[1]) > 0.01);
}

TEST(equals_the_definition)
{
    compare(&plain);
    compare(&decaying);
}

TEST(does_not_depend_on_the_split)
{
    struct cov_rng rng;
    float p[2][N_VALUES], m[2][N_VALUES] = {{0}}, v[2][N_VALUES] = {{0}}, g[N_VALUES];
    cov_rng_init(&rng, 2);
    for (int i = 0; i < N_VALUES; i++) {
        p[0][i] = p[1][i] = (float)cov_rng_double(&rng);
        g[i] = (float)cov_rng_double(&rng);
    }
    cov_adam_step(&plain, 1, 1, &(struct cov_adam_slice){N_VALUES, g, p[0], m[0], v[0]});
    for (size_t at = 0, n = 1; at < N_VALUES; at += n, n++) {
        n = at + n > N_VALUES ? N_VALUES - at : n;
        cov_adam_step(&plain, 1, 1,
                      &(struct cov_adam_slice){n, g + at, p[1] + at, m[1] + at, v[1] + at});
    }
    assert_memory_equal(p[0], p[1], sizeof p[0]);
    assert_memory_equal(m[0], m[1], sizeof m[0]);
    assert_memory_equal(v[0], v[1], sizeof v[0]);
}
