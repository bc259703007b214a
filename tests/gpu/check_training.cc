/* check_training.cc - checks training on a card against the scalar reference: gradients, statistics
 * and scores of random networks at each precision; and optimiser steps of several batches, with
 * clipping, averages, resumption, several cards and several processes. Prints TAP.
 *   check_training [--big] [--precision NAME]
 * Runs on GPUs (make check-gpu), where --big adds larger networks, and emulated (make check). The optimiser
 * is checked in fp32, and several cards in three precisions.
 * SPDX-License-Identifier: MIT */
#include <math.h>

extern "C" {
#include "common/base/pool.h"
#include "common/compute/cpu/kernels/operands.h"
}

#include <pthread.h>

#include "common/compute/cuda/cuda_cards.h"
#include "tests/gpu/toy.h"
#if defined(SIMT_EMULATED_H)
extern "C" {
#include "tests/mock/runtime_mock.h"
}
#endif

namespace
{

Gradient gradient_of(struct cov_device *dev, const Toy &t, size_t n, bool recompute = false)
{
    struct cov_err e = COV_ERR_INIT;
    Gradient g;
    must(find_gradient(dev, t, n, &g, &e, recompute), &e);
    return g;
}

/* Returns the largest error of a gradient, relative to the largest gradient of the same parameter;
 * sets *where to that parameter's name. */
double difference(const Toy &t, const Gradient &got, const Gradient &want, const char **where)
{
    double worst = 0;
    *where = "";
    for (size_t k = 0; k < t.params.n_items; k++) {
        const struct cov_param &p = t.params.items[k];
        double largest = 1e-3, off = 0;
        for (size_t i = p.offset; i < p.offset + p.n; i++) {
            double error = fabs((double)got.v[i] - (double)want.v[i]);
            largest = std::max(largest, fabs((double)want.v[i]));
            off = error <= off ? off : error; /* keeps NaN */
        }
        if (!(off / largest <= worst)) {
            worst = off / largest;
            *where = p.name;
        }
    }
    return worst;
}

/* 1 - cosine of the angle between two gradients. */
double angle(const Toy &t, const Gradient &a, const Gradient &b)
{
    double product = 0, of_a = 0, of_b = 0;
    for (size_t k = 0; k < t.params.n_items; k++) {
        const struct cov_param &p = t.params.items[k];
        for (size_t i = p.offset; p.trained && i < p.offset + p.n; i++) {
            product += (double)a.v[i] * (double)b.v[i];
            of_a += (double)a.v[i] * (double)a.v[i];
            of_b += (double)b.v[i] * (double)b.v[i];
        }
    }
    return 1 - product / sqrt(of_a * of_b);
}

/* The angle by which the reference's gradient turns if the parameters are rounded to bf16, which changes the
 * sign of some sums before ReLUs. */
double turned_by_rounding(const Toy &t, const Gradient &want)
{
    struct cov_device *cpu = cov_ref_training_device();
    Toy rounded = t;
    for (float &v : rounded.block)
        v = cov_bf16_round(v);
    double turned = angle(t, gradient_of(cpu, rounded, t.n), want);
    cov_device_close(cpu);
    return turned;
}

bool near(double a, double b, double bound)
{
    return fabs(a - b) <= bound * (1 + fabs(b));
}

/* ---- gradients ---- */

/* As 1 - cosine. In bf16, TURNED_MORE times the angle by which rounding the parameters alone turns the gradient
 * is allowed, too: for five large networks, the angle was 0.3 to 1.9 times that. */
const double MAX_ANGLE = 1e-3, TURNED_MORE = 3;

struct Precision {
    std::string name;
    enum cov_precision precision;
    double bound; /* bound of the error; 0: the direction of the gradient is checked instead */
    bool truncated;
};

const Precision all_precisions[] = {
    {"fp32", COV_PRECISION_FP32, 1e-4, false}, {"tf32x3", COV_PRECISION_BF16X3, 1e-4, false},
    {"tf32", COV_PRECISION_TF32, 0, false},    {"balanced", COV_PRECISION_BALANCED, 0, false},
    {"bf16", COV_PRECISION_BF16, 0, false},
};

struct cov_hparams draw_network(struct cov_rng *rng, size_t i, int64_t most)
{
    static const int64_t kernels[][3] = {/* kernel, step, dilation */
                                         {9, 2, 1}, {5, 1, 1}, {4, 2, 1}, {7, 3, 1},
                                         {8, 2, 1}, {3, 2, 2}, {6, 3, 1}, {3, 1, 3}};
    const int64_t *k = kernels[i % 8];
    struct cov_hparams hp = {};
    hp.model_type = (enum cov_model_type)((i + 2) % 3);
    hp.cnn_layers = draw(rng, 1, 2);
    hp.filter_size = draw(rng, 1, most);
    hp.kernel_size = k[0];
    hp.step = k[1];
    hp.up = draw(rng, 1, 2);
    hp.dilation = k[2];
    hp.lstm_layers = draw(rng, 1, 2);
    hp.hidden_size = draw(rng, 1, most);
    hp.input_size = 4;
    hp.output_size = draw(rng, 1, 3);
    hp.bnorm = i % 4 != 1;
    hp.dropout = i % 3 == 0 ? 0.25 : 0;
    return hp;
}

/* Returns true if the precision allows an error, and an angle to the reference's gradient `want`. */
bool allows(const Precision &p, const Toy &t, double off, double turned, const Gradient &want)
{
    if (p.bound > 0)
        return off <= p.bound;
    return turned <= MAX_ANGLE || (p.precision == COV_PRECISION_BF16 &&
                                   turned <= TURNED_MORE * turned_by_rounding(t, want));
}

bool check_gradient(struct cov_device *gpu, const Precision &p, const Toy &t, const Gradient &want,
                    size_t i, double *most)
{
    const char *where;
    Gradient got = gradient_of(gpu, t, t.n), again = gradient_of(gpu, t, t.n, true);
    double off = difference(t, got, want, &where), turned = angle(t, got, want);
    double score_bound = p.bound > 0 ? 1e-5 : 5e-3;
    bool passed = allows(p, t, off, turned, want);
    *most = std::max(*most, p.bound > 0 ? off : turned);
    bool scored = near(got.score.loss, want.score.loss, score_bound) &&
                  near(got.score.accuracy, want.score.accuracy, 4 * score_bound) &&
                  got.score.n_rows == want.score.n_rows;
    if (!passed || !scored)
        printf("# %s, network %zu (kernel %d, step %d, dilation %d): off by %g at %s, 1 - cosine "
               "%g; loss %g for %g, accuracy %g for %g\n",
               p.name.c_str(), i, (int)t.hp.kernel_size, (int)t.hp.step, (int)t.hp.dilation, off,
               where, turned, got.score.loss, want.score.loss, got.score.accuracy,
               want.score.accuracy);
    if (got.v != again.v || got.score.loss != again.score.loss) {
        printf("# %s, network %zu: a second run, with recompute, has other bytes\n", p.name.c_str(),
               i);
        passed = false;
    }
    return passed && scored;
}

/* Random networks. The first has all kinds of layers, more channels than a block's columns, dropout
 * before bf16, and a batch large enough for stable norms. */
std::vector<Toy> draw_toys(bool big)
{
    std::vector<Toy> toys;
    struct cov_rng rng;
    cov_rng_init(&rng, 77);
    for (size_t i = 0; i < (big ? 40U : 8U); i++) {
        struct cov_hparams hp = draw_network(&rng, i, big ? 150 : 37);
        if (i == 0) {
            hp.model_type = COV_MODEL_BI_HYBRID;
            hp.cnn_layers = hp.lstm_layers = hp.up = 2;
            hp.filter_size = 36;
            hp.hidden_size = 33;
        }
        size_t L = (size_t)(hp.step * hp.step * draw(&rng, 1, big ? 200 : 9));
        size_t n = (size_t)draw(&rng, 1, big ? 20 : 6);
        if (i == 0) {
            L = 64;
            n = 9;
        }
        toys.push_back(make_toy(hp, L, n, 100 + i));
        if (i % 3 == 1)
            toys.back().loss_weights = std::vector<float>{0.5F, 2, 0};
    }
    /* Long enough for several splits and slices of a chunk. */
    struct cov_hparams hp = small_network(3, 3, 3);
    hp.step = 1;
    toys.push_back(make_toy(hp, 1030, 2, 99));
    return toys;
}

void check_gradients(bool big, const std::vector<Precision> &precisions)
{
    struct cov_device *cpu = cov_ref_training_device();
    std::vector<Toy> toys = draw_toys(big);
    std::vector<Gradient> want;
    for (const Toy &t : toys)
        want.push_back(gradient_of(cpu, t, t.n));
    for (const Precision &p : slow_ones(precisions)) {
        double most = 0;
        bool passed = true;
        struct cov_device *gpu = open_gpu(p);
        /* The emulation is slow, and the other precisions differ from fp32 in products only. */
        size_t n = big || p.precision == COV_PRECISION_FP32 ? toys.size() : 3;
        for (size_t i = 0; i < n; i++)
            passed = check_gradient(gpu, p, toys[i], want[i], i, &most) && passed;
        printf("# %s: %s %.2g\n", p.name.c_str(), p.bound > 0 ? "off by" : "1 - cosine", most);
        named(passed, p.name + ": gradients agree with the reference");
        cov_device_close(gpu);
    }
    cov_device_close(cpu);
    for (Toy &t : toys)
        cov_params_fini(&t.params);
}

/* Checks that planted faults change gradients, and that the self-check finds them. */
void check_faults(const std::vector<Precision> &precisions, bool self_check)
{
#if defined(SIMT_EMULATED_H)
    /* Its LSTMs are padded to 32 units, which keep their weights in fp32. */
    struct cov_hparams hp = small_network(12, 9, 25);
    hp.cnn_layers = hp.up = hp.lstm_layers = 2;
    Toy t = make_toy(hp, 32, 9, 7);
    struct cov_device *cpu = cov_ref_training_device();
    const Gradient want = gradient_of(cpu, t, t.n);
    cov_device_close(cpu);
    for (const Precision &p : precisions) {
        /* Precisions before these have the same kernels; the self-check of bf16x3 takes long. */
        if (p.truncated || p.precision == COV_PRECISION_TF32 ||
            p.precision == COV_PRECISION_BALANCED ||
            (self_check && p.precision == COV_PRECISION_BF16X3))
            continue;
        struct cov_device *gpu = open_gpu(p);
        if (!self_check) /* checks that pass are not repeated */
            (void)gradient_of(gpu, t, t.n);
        for (const Fault &f : faults) {
            if (!f.affects_training(p.precision))
                continue;
            struct cov_err e = COV_ERR_INIT;
            Gradient got;
            const char *where;
            simt_set_fault(f.fault);
            int rc = find_gradient(gpu, t, t.n, &got, &e);
            simt_set_fault(SIMT_FAULT_NONE);
            if (self_check)
                named(rc == COV_EIO && strstr(e.text, "computes wrong gradients"),
                      p.name + ": the self-check finds " + f.name);
            else
                named(rc || !allows(p, t, difference(t, got, want, &where), angle(t, got, want),
                                    want),
                      p.name + ": " + f.name + " are found");
        }
        cov_device_close(gpu);
    }
    cov_params_fini(&t.params);
#else
    (void)precisions;
    (void)self_check;
#endif
}

/* ---- the trainer ---- */

struct cov_hparams hybrid(void)
{
    struct cov_hparams hp = small_network(5, 5, 6);
    hp.up = hp.lstm_layers = hp.output_size = 2;
    hp.dropout = 0.3;
    return hp;
}

const size_t L = 12, N = 4;

/* An eps so large that rounding of gradients near 0 does not change the direction of a step. */
const struct cov_adam steady = {0.01, 0.9, 0.999, 0.1, 0, 0, 0};

struct Rig {
    struct cov_device *dev;
    struct cov_pool *pool;
    struct cov_trainer *trainer;
    size_t n_floats;
};

Rig make_rig(struct cov_device *dev, const Toy &t, struct cov_train_reduce reduce)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_trainer_options options = {};
    Rig r = {dev, NULL, NULL, t.params.n_floats};
    must(cov_pool_new(1, &r.pool, &e), &e);
    options.hp = &t.hp;
    options.L = t.L;
    options.max_batch = t.n;
    options.seed = 9;
    options.reduce = reduce;
    options.pool = r.pool;
    options.frozen = t.frozen.empty() ? NULL : (const bool *)t.frozen.data();
    must(cov_trainer_new(dev, &options, t.block.data(), &r.trainer, &e), &e);
    return r;
}

void free_rig(Rig *r)
{
    cov_trainer_free(r->trainer);
    cov_pool_free(r->pool);
}

void learn(const Rig &r, const Toy &t, size_t beg, size_t end)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_train_batch batch = batch_of(t, beg, end);
    struct cov_train_score score;
    must(cov_trainer_batch(r.trainer, &batch, &score, &e), &e);
}

void step(const Rig &r, const struct cov_adam &adam)
{
    struct cov_err e = COV_ERR_INIT;
    must(cov_trainer_step(r.trainer, &adam, &e), &e);
}

/* Parameters, moments and average. */
std::vector<float> state_of(const Rig &r)
{
    struct cov_err e = COV_ERR_INIT;
    std::vector<float> all(4 * r.n_floats);
    struct cov_train_state state = {all.data(), all.data() + r.n_floats,
                                    all.data() + 2 * r.n_floats, all.data() + 3 * r.n_floats, 0};
    must(cov_trainer_read(r.trainer, &state, &e), &e);
    return all;
}

double most_off(const std::vector<float> &a, const std::vector<float> &b)
{
    double most = 0;
    for (size_t i = 0; i < a.size(); i++) {
        double off = fabs((double)a[i] - (double)b[i]);
        most = off <= most ? most : off;
    }
    return most;
}

const struct cov_train_reduce alone = {NULL, NULL};

/* Runs steps of two batches each, with clipping, and with an average from the second step on. */
std::vector<float> train(struct cov_device *dev, const Toy &t)
{
    Rig r = make_rig(dev, t, alone);
    for (int i = 0; i < 3; i++) {
        struct cov_adam adam = steady;
        adam.weight_decay = 2;
        adam.clip = 0.5;
        adam.average = i > 0 ? 0.75 : 0;
        learn(r, t, 0, 3);
        learn(r, t, 3, N);
        step(r, adam);
    }
    std::vector<float> state = state_of(r);
    free_rig(&r);
    return state;
}

void steps_match_the_cpu(struct cov_device *gpu, struct cov_device *cpu, const Toy &t)
{
    std::vector<float> got = train(gpu, t), want = train(cpu, t);
    double off = most_off(got, want);
    printf("# off by %g\n", off);
    result(off <= 2e-5, "steps of several batches, clipped and averaged, match the CPU's");
    result(train(gpu, t) == got, "  the same bytes in a second run");
}

void freezes(struct cov_device *gpu, struct cov_device *cpu, Toy t)
{
    size_t n_changed = 0, n = t.params.n_floats;
    for (size_t k = 0; k < t.params.n_items; k++) {
        const struct cov_param *p = &t.params.items[k];
        t.frozen.push_back(p->trained && (strncmp(p->name, "down", 4) == 0 ||
                                          strncmp(p->name, "lstm_layer_list.0", 17) == 0 ||
                                          strncmp(p->name, "up_layer_list.0", 15) == 0));
    }
    printf("# with frozen layers:\n");
    steps_match_the_cpu(gpu, cpu, t);
    std::vector<float> got = train(gpu, t);
    for (size_t k = 0; k < t.params.n_items; k++) {
        const struct cov_param *p = &t.params.items[k];
        for (size_t i = p->offset; t.frozen[k] && i < p->offset + p->n; i++)
            n_changed += got[i] != t.block[i] || got[3 * n + i] != t.block[i];
    }
    result(n_changed == 0, "  they do not change");
}

void resumes(struct cov_device *gpu, const Toy &t)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_adam adam = steady;
    adam.average = 0.5;
    Rig whole = make_rig(gpu, t, alone), first = make_rig(gpu, t, alone),
        second = make_rig(gpu, t, alone);
    for (int i = 0; i < 3; i++) {
        learn(whole, t, 0, N);
        step(whole, adam);
    }
    for (int i = 0; i < 2; i++) {
        learn(first, t, 0, N);
        step(first, adam);
    }
    std::vector<float> all = state_of(first);
    size_t n = first.n_floats;
    struct cov_train_state state = {&all[0], &all[n], &all[2 * n], &all[3 * n], 2};
    learn(second, t, 0, 2); /* discarded by the write */
    must(cov_trainer_write(second.trainer, &state, &e), &e);
    learn(second, t, 0, N);
    step(second, adam);
    result(state_of(second) == state_of(whole),
           "two steps and a resumed third give the same bytes as three steps");
    must(cov_trainer_read(second.trainer, &state, &e), &e);
    result(state.n_steps == 3, "  the steps are counted");
    free_rig(&whole);
    free_rig(&first);
    free_rig(&second);
}

void refuses_infinite_loss(struct cov_device *gpu, Toy t)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_train_score score;
    Rig r = make_rig(gpu, t, alone);
    std::vector<float> before = state_of(r);
    t.targets[2] = INFINITY;
    struct cov_train_batch batch = batch_of(t, 0, N);
    result(cov_trainer_batch(r.trainer, &batch, &score, &e) == COV_EINPUT &&
               strstr(e.text, "not finite") && state_of(r) == before,
           "a loss that is not finite is refused and changes nothing");
    result(cov_trainer_step(r.trainer, &steady, NULL) == COV_EUSAGE,
           "a step without a batch is refused");
    std::fill(t.present.begin(), t.present.end(), 0);
    batch = batch_of(t, 0, N);
    must(cov_trainer_batch(r.trainer, &batch, &score, &e), &e);
    step(r, steady);
    std::vector<float> after = state_of(r);
    bool still = score.loss == 0 && score.accuracy == 0 && score.n_rows == 0;
    for (size_t i = 0; i < r.n_floats; i++)
        still = still && after[r.n_floats + i] == 0;
    result(still, "no targets: no loss, no gradient");
    free_rig(&r);
}

/* Two processes, as threads that wait for each other to add their sums. */
struct Process {
    Rig rig;
    const Toy *toy;
    size_t beg, end;
    struct Meeting *meeting;
};

struct Meeting {
    pthread_barrier_t barrier;
    double *v[2];
    Process of[2];
};

int meet(void *arg, double *v, size_t n, struct cov_err *e)
{
    (void)e;
    Process *p = (Process *)arg;
    Meeting *m = p->meeting;
    m->v[p == &m->of[1]] = v;
    pthread_barrier_wait(&m->barrier);
    std::vector<double> sum(n);
    for (size_t i = 0; i < n; i++)
        sum[i] = m->v[0][i] + m->v[1][i];
    pthread_barrier_wait(&m->barrier);
    memcpy(v, sum.data(), n * sizeof *v);
    pthread_barrier_wait(&m->barrier);
    return COV_OK;
}

void *run_process(void *arg)
{
    Process *p = (Process *)arg;
    for (int i = 0; i < 2; i++) {
        learn(p->rig, *p->toy, p->beg, p->end);
        step(p->rig, steady);
    }
    return NULL;
}

/* Returns the states of two processes, the second of which has the last `rest` chunks. */
std::vector<float> run_processes(struct cov_device *gpu, const Toy &t, size_t rest)
{
    Meeting m;
    pthread_t threads[2];
    (void)pthread_barrier_init(&m.barrier, NULL, 2);
    for (int i = 0; i < 2; i++) {
        m.of[i] = Process{{}, &t, i ? N - rest : 0, i ? N : N - rest, &m};
        m.of[i].rig = make_rig(gpu, t, {meet, &m.of[i]});
    }
    for (int i = 0; i < 2; i++)
        (void)pthread_create(&threads[i], NULL, run_process, &m.of[i]);
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    std::vector<float> a = state_of(m.of[0].rig);
    if (state_of(m.of[1].rig) != a)
        result(false, "two processes have the same bytes");
    for (Process &p : m.of)
        free_rig(&p.rig);
    (void)pthread_barrier_destroy(&m.barrier);
    return a;
}

void processes_share(struct cov_device *gpu, const Toy &t, size_t rest, const char *name)
{
    Rig one = make_rig(gpu, t, alone);
    Process whole = {one, &t, 0, N, NULL};
    (void)run_process(&whole);
    double off = most_off(run_processes(gpu, t, rest), state_of(one));
    if (off > 2e-5)
        printf("# off by %g\n", off);
    result(off <= 2e-5, name);
    free_rig(&one);
}

/* Returns the state and the scores after steps of two batches each, of which the second has fewer chunks
 * than there may be cards. */
std::vector<float> train_team(enum cov_precision precision, const Toy &t, size_t n_cards)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_device *dev = open_gpus(precision, n_cards);
    Rig r = make_rig(dev, t, alone);
    std::vector<float> scores;
    for (int i = 0; i < 2; i++) {
        const struct cov_train_batch batches[] = {batch_of(t, 0, t.n - 2),
                                                  batch_of(t, t.n - 2, t.n)};
        for (const struct cov_train_batch &b : batches) {
            struct cov_train_score score;
            must(cov_trainer_batch(r.trainer, &b, &score, &e), &e);
            scores.push_back((float)score.loss);
            scores.push_back((float)score.accuracy);
        }
        struct cov_adam adam = {0.01, 0.9, 0.999, 1e-8, 0.01, 0.5, 0.75};
        step(r, adam);
    }
    std::vector<float> state = state_of(r);
    state.insert(state.end(), scores.begin(), scores.end());
    free_rig(&r);
    cov_device_close(dev);
    return state;
}

/* Checks that several cards give the same bytes as one; skips teams that the machine has too few for. */
void check_teams(enum cov_precision precision, const std::vector<size_t> &teams, int64_t hidden)
{
    struct cov_err e = COV_ERR_INIT;
    int n_there;
    struct cov_hparams hp = hybrid();
    hp.bnorm = true;
    hp.hidden_size = hidden;
    Toy t = make_toy(hp, 8, 13, 8);
    must(cov_rt_count(&n_there, &e), &e);
    std::vector<float> want = train_team(precision, t, 1);
    for (size_t n : teams) {
        std::string name = std::string(cov_precision_name(precision)) + ": " + std::to_string(n) +
                           " cards give the same bytes as one";
        if (n > (size_t)n_there)
            printf("ok %d # SKIP %s: %d GPUs\n", ++n_tests, name.c_str(), n_there);
        else
            result(train_team(precision, t, n) == want, name.c_str());
    }
    cov_params_fini(&t.params);
}

/* Returns the state after training without parts of enum COV_CUDA_PRIORITY. */
std::vector<float> train_without(enum cov_precision precision, const Toy &t, unsigned what)
{
    struct cov_device *dev = open_gpu(precision);
    cov_cuda_cards_of(dev)->without = what;
    std::vector<float> state = train(dev, t);
    cov_device_close(dev);
    return state;
}

/* Checks that graphs change no bit, with dropout, which is different in each step, and batches of two
 * sizes; in the emulation, also that graphs are used and freed, and what happens if they fail. */
void check_graphs(enum cov_precision precision, const Toy &t)
{
    const std::string name = std::string(cov_precision_name(precision)) + ": ";
    const std::vector<float> want =
        train_without(precision, t, COV_CUDA_GRAPHS | COV_CUDA_HALF_BLOCKS);
    named(train_without(precision, t, COV_CUDA_HALF_BLOCKS) == want,
          name + "the same bytes in graphs");
#if defined(SIMT_EMULATED_H)
    (void)setenv("COVTOOLS_MOCK", "cards=8,multiprocessors=132", 1);
#endif
    named(train_without(precision, t, COV_CUDA_GRAPHS) == want,
          name + "the same bytes with half blocks of LSTMs");
#if defined(SIMT_EMULATED_H)
    static const struct {
        const char *mock;
        bool same;
        size_t n_replays; /* two steps after the first one, with two batches each */
    } cases[] = {
        {"graph_fail=1", true, 0},   {"graph_fail=2", true, 0},   {"graph_lacks=1", false, 4},
        {"graph_lacks=4", false, 4}, {"graph_lacks=5", false, 4}, {"graph_lacks=9", false, 4},
    };
    for (const auto &c : cases) {
        const size_t left = runtime_mock_left(), replays = runtime_mock_replays();
        (void)setenv("COVTOOLS_MOCK", (std::string("cards=8,") + c.mock).c_str(), 1);
        bool same = train_without(precision, t, 0) == want;
        named(same == c.same && runtime_mock_replays() == replays + c.n_replays &&
                  runtime_mock_left() == left,
              "  " + std::string(c.mock) + (same ? ": the same" : ": other") + " bytes");
    }
    (void)setenv("COVTOOLS_MOCK", "cards=8", 1);
#endif
}

void check_trainer(void)
{
    Toy t = make_toy(hybrid(), L, N, 5);
    struct cov_device *gpu = open_gpu(COV_PRECISION_FP32), *cpu = cov_ref_training_device();
    steps_match_the_cpu(gpu, cpu, t);
    freezes(gpu, cpu, t);
    check_graphs(COV_PRECISION_FP32, t);
    if (has_tensor_cores())
        check_graphs(COV_PRECISION_BF16, t);
    resumes(gpu, t);
    refuses_infinite_loss(gpu, t);
    processes_share(gpu, t, 1, "two processes that share a batch perform the same steps as one");
    processes_share(gpu, t, 0, "  the same if one of them has no chunks");
    check_teams(COV_PRECISION_FP32, {2, 4, 8}, 6);
    check_teams(COV_PRECISION_FP32, {3}, 24); /* many weights have another kernel for their sums */
    if (has_tensor_cores())
        check_teams(COV_PRECISION_BF16, {2}, 6);
#if defined(SIMT_EMULATED_H)
    struct cov_device *two = open_gpus(COV_PRECISION_FP32, 2);
    result(run_processes(two, t, 1) == run_processes(gpu, t, 1),
           "two processes with two cards each give the same bytes as with one each");
    cov_device_close(two);
#endif
    cov_device_close(gpu);
    cov_device_close(cpu);
    cov_params_fini(&t.params);
}

} // namespace

int main(int argc, char **argv)
{
#if defined(SIMT_EMULATED_H)
    (void)setenv("COVTOOLS_MOCK", "cards=8", 0);
#endif
    Options o = parse_options(argc, argv);
    std::vector<Precision> precisions = choose_precisions(all_precisions, o.only);
    check_faults(precisions, true);
    check_gradients(o.big, precisions);
    check_faults(precisions, false);
    if (!o.only || strcmp(o.only, "fp32") == 0)
        check_trainer();
    return finish_tests();
}
