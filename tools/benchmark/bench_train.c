/* bench_train.c - speed of training.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/net/train.h"
#include "tools/benchmark/measuring.h"

/* Length of the chunk that is compared with the level base. */
enum { CHECK_LENGTH = 256 };

struct setup {
    const struct cov_hparams *hp;
    const float *block; /* initial weights */
    const char *levels; /* CPU levels; NULL: all */
    enum cov_precision precision;
    size_t batch, L;
    unsigned threads;
    uint64_t seed;
};

struct training {
    struct cov_device *dev;
    struct cov_pool *pool;
    struct cov_trainer *trainer;
    struct cov_train_batch batch;
    uint8_t *codes;
    float *targets;
    bool *present;
};

static void close_training(struct training *t)
{
    cov_trainer_free(t->trainer);
    cov_pool_free(t->pool);
    cov_device_close(t->dev);
    free(t->codes);
    free(t->targets);
    free(t->present);
}

static int make_batch(const struct setup *s, struct training *t, struct cov_err *e)
{
    size_t n = s->batch * s->L, n_outputs = (size_t)s->hp->output_size;
    struct cov_rng rng;
    t->codes = cov_malloc(n, 1, e);
    t->targets = cov_malloc(n * n_outputs, sizeof *t->targets, e);
    t->present = cov_malloc(s->batch * n_outputs, sizeof *t->present, e);
    if (!t->codes || !t->targets || !t->present)
        return COV_ENOMEM;
    cov_rng_init(&rng, s->seed);
    for (size_t i = 0; i < n; i++)
        t->codes[i] = (uint8_t)(1U << cov_rng_below(&rng, 4));
    for (size_t i = 0; i < n * n_outputs; i++)
        t->targets[i] = (float)cov_rng_below(&rng, 5);
    memset(t->present, 1, s->batch * n_outputs * sizeof *t->present);
    t->batch = (struct cov_train_batch){
        .n = s->batch, .codes = t->codes, .targets = t->targets, .present = t->present};
    return COV_OK;
}

static int open_training(const struct setup *s, struct training *t, struct cov_err *e)
{
    const struct cov_cpu_options cpu = {.precision = s->precision, .levels = s->levels};
    *t = (struct training){0};
    int rc = make_batch(s, t, e);
    if (!rc)
        rc = cov_device_open_cpu(&cpu, &t->dev, e);
    if (!rc)
        rc = cov_pool_new(s->threads, &t->pool, e);
    const struct cov_trainer_options options = {
        .hp = s->hp, .L = s->L, .max_batch = s->batch, .seed = s->seed, .pool = t->pool};
    return rc ? rc : cov_trainer_new(t->dev, &options, s->block, &t->trainer, e);
}

static int learn(struct training *t, double *loss, struct cov_err *e)
{
    static const struct cov_adam adam = {0.001, 0.9, 0.999, 1e-8, 0, 0, 0};
    struct cov_train_score score = {0};
    int rc = cov_trainer_batch(t->trainer, &t->batch, &score, e);
    *loss = score.loss;
    return rc ? rc : cov_trainer_step(t->trainer, &adam, e);
}

/* Computes the loss of a batch before and after one step. */
static int learn_piece(const struct setup *s, double losses[2], struct cov_err *e)
{
    struct training t;
    int rc = open_training(s, &t, e);
    for (int i = 0; i < 2 && !rc; i++)
        rc = learn(&t, &losses[i], e);
    close_training(&t);
    return rc;
}

static int check(void *arg, struct cov_err *e)
{
    const struct setup *s = arg;
    struct setup piece = *s;
    double fast[2] = {0}, base[2] = {0};
    size_t unit = 1;
    for (int64_t i = 0; i < s->hp->cnn_layers; i++)
        unit *= (size_t)s->hp->step;
    piece.batch = 2;
    piece.L = CHECK_LENGTH < s->L ? (CHECK_LENGTH + unit - 1) / unit * unit : s->L;
    int rc = learn_piece(&piece, fast, e);
    piece.levels = "base";
    piece.precision = COV_PRECISION_FP32;
    if (!rc)
        rc = learn_piece(&piece, base, e);
    for (int i = 0; i < 2 && !rc; i++)
        if (!(fabs(fast[i] - base[i]) <= 1e-2 * fabs(base[i])))
            rc = cov_fail(e, COV_EINPUT, "the loss in %s is %g, but with --cpu base in fp32 %g",
                          cov_precision_name(s->precision), fast[i], base[i]);
    return rc;
}

static int run(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct setup *s = arg;
    struct training t;
    double loss, spent = 0;
    size_t n = 0;
    int rc = open_training(s, &t, e);
    if (!rc)
        rc = learn(&t, &loss, e); /* warm-up */
    double start = cov_clock();
    while (!rc && seconds > 0 && (n == 0 || spent < seconds)) {
        rc = learn(&t, &loss, e);
        n++;
        spent = cov_clock() - start;
    }
    *value = n > 0 ? (double)(n * s->batch) / spent : 0;
    close_training(&t);
    return rc;
}

/* Adds all batches of the first precision, then those of the next. */
static int add_cases(struct bench *b, const struct bench_train_options *o,
                     const struct setup *common, struct setup *setups, struct bench_cases *cases,
                     struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; i < o->n_precisions * o->batches.n && !rc; i++) {
        struct setup *s = &setups[i];
        *s = *common;
        s->precision = o->precisions[i / o->batches.n];
        s->batch = (size_t)o->batches.items[i % o->batches.n];
        const struct bench_case c = {
            .name = cov_strfmt(e,
                               "model/training_chunks_per_second/device=cpu,precision=%s,batch=%zu,"
                               "threads=%u,length=%zu",
                               cov_precision_name(s->precision), s->batch, b->threads, o->L),
            .unit = "chunks/s",
            .higher_is_better = true,
            .check = i % o->batches.n == 0 ? check : NULL,
            .run = run,
            .arg = s};
        rc = bench_cases_add(cases, c, e);
    }
    return rc;
}

static int draw(struct bench *b, const struct setup *setups, const struct bench_cases *cases,
                struct cov_err *e)
{
    static const struct cov_chart like = {.kind = COV_CHART_LINES,
                                          .file = "model_training",
                                          .title = "Speed of training by batch",
                                          .x = "chunks per batch",
                                          .y = "chunks/s"};
    struct cov_chart *chart;
    int rc = cov_charts_add(&b->charts, &like, &chart, e);
    for (size_t i = 0; i < cases->n && !rc; i++)
        rc = chart_add_figure(chart, cov_precision_name(setups[i].precision),
                              (double)setups[i].batch,
                              figures_find(&b->figures, cases->items[i].name), 1, e);
    return rc;
}

int bench_train(struct bench *b, const struct bench_net *net,
                const struct bench_train_options *options, struct cov_err *e)
{
    struct setup *setups =
        cov_calloc(options->n_precisions * options->batches.n, sizeof *setups, e);
    struct bench_cases cases = {0};
    struct cov_params params = {0};
    float *block = NULL;
    int rc = setups ? cov_params_init(&net->hp, &params, e) : COV_ENOMEM;
    if (!rc && !(block = cov_calloc64(params.n_floats, sizeof *block, e)))
        rc = COV_ENOMEM;
    if (!rc)
        cov_params_randomize(&net->hp, &params, b->seed, block);
    const struct setup common = {
        .hp = &net->hp, .block = block, .L = options->L, .threads = b->threads, .seed = b->seed};
    if (!rc)
        rc = add_cases(b, options, &common, setups, &cases, e);
    if (!rc)
        rc = bench_run(b, "training", &cases, e);
    if (!rc)
        rc = draw(b, setups, &cases, e);
    bench_cases_fini(&cases);
    free(setups);
    free(block);
    cov_params_fini(&params);
    return rc;
}
