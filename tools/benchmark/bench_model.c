/* bench_model.c - benchmark model: speed of the network by batch, precision, threads and length,
 * the distance of each precision from fp32, and speed of training.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/compute/device_open.h"
#include "common/net/net.h"
#include "common/net/train.h"
#include "tools/benchmark/measuring.h"

/* ---------------------------------------------------------------- a case */

/* The network of a setup on its device, with input and output. */
struct loaded {
    struct cov_device *dev;
    struct cov_net *net;
    struct cov_pool *pool;
    size_t batch, n_codes, n_values; /* per thread */
    uint8_t *codes;                  /* [threads, batch, L] */
    float *values;                   /* [threads, batch, L, outputs] */
    double (*spent)[2];              /* [threads] CPU and wall seconds */
};

static void unload(struct loaded *l)
{
    free(l->values);
    free(l->codes);
    free(l->spent);
    cov_pool_free(l->pool);
    cov_net_free(l->net);
    cov_device_close(l->dev);
}

static int load(const struct bench_setup *s, struct loaded *l, struct cov_err *e)
{
    const struct cov_cpu_options cpu = {.precision = s->precision, .levels = s->levels};
    size_t n = s->threads * s->batch * s->length;
    *l = (struct loaded){.n_values = s->batch * s->length * (size_t)s->net->hp.output_size,
                         .n_codes = s->batch * s->length,
                         .batch = s->batch};
    int rc = cov_device_open(&s->choice, &cpu, &l->dev, e);
    if (!rc)
        rc = cov_net_new(l->dev, &s->net->hp, s->net->block,
                         (struct cov_net_size){s->length, s->threads, s->batch}, &l->net, e);
    if (!rc)
        rc = cov_pool_new(s->threads, &l->pool, e);
    if (rc)
        return rc;
    l->codes = cov_malloc(n, 1, e);
    l->values = cov_malloc(s->threads * l->n_values, sizeof *l->values, e);
    l->spent = cov_calloc(s->threads, sizeof *l->spent, e);
    if (!l->codes || !l->values || !l->spent)
        return COV_ENOMEM;
    bench_draw_codes(s->b->seed, l->codes, n);
    return COV_OK;
}

static int forward(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    struct loaded *l = arg;
    double had = cov_clock_thread(), passed = cov_clock();
    int rc = cov_net_forward(l->net, worker, l->batch, l->codes + item * l->n_codes,
                             l->values + item * l->n_values, e);
    l->spent[item][0] += cov_clock_thread() - had;
    l->spent[item][1] += cov_clock() - passed;
    return rc;
}

static int forward_all(void *arg, struct cov_err *e)
{
    struct loaded *l = arg;
    return cov_pool_for(l->pool, cov_pool_size(l->pool), forward, l, e);
}

static int run(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct bench_setup *s = arg;
    struct loaded l;
    int rc = load(s, &l, e);
    *value = 0;
    if (!rc)
        rc = forward_all(&l, e); /* warm-up */
    if (!rc && seconds > 0) {
        rc = bench_repeat(forward_all, &l, seconds, value, e);
        *value = s->threads * s->batch / *value;
    }
    /* If there are more threads than processors, they take turns. */
    bool each_has_one = s->choice.kind == COV_DEVICE_CPU && s->threads <= cov_pool_default_size();
    for (unsigned i = 0; !rc && seconds > 0 && each_has_one && i < s->threads; i++) {
        s->b->processor_had += l.spent[i][0];
        s->b->processor_wanted += l.spent[i][1];
    }
    unload(&l);
    return rc;
}

/* ---------------------------------------------------------------- values */

static int compute(const struct bench_setup *s, float **values, size_t *n, struct cov_err *e)
{
    struct loaded l;
    int rc = load(s, &l, e);
    if (!rc)
        rc = cov_pool_for(l.pool, 1, forward, &l, e);
    *n = l.n_values;
    *values = NULL;
    if (!rc) {
        *values = l.values;
        l.values = NULL;
    }
    unload(&l);
    return rc;
}

struct distance {
    double max, median, one_minus_r;
};

static int compare(const float *a, const float *ref, size_t n, struct distance *d,
                   struct cov_err *e)
{
    double *errors = cov_malloc(n, sizeof *errors, e);
    double ma = 0, mr = 0, aa = 0, rr = 0, ar = 0;
    if (!errors)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        double x = (double)a[i], r = (double)ref[i];
        errors[i] = fabs(x - r) / fabs(r);
        ma += x / (double)n;
        mr += r / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double x = (double)a[i] - ma, r = (double)ref[i] - mr;
        aa += x * x;
        rr += r * r;
        ar += x * r;
    }
    spread_sort(errors, n);
    d->max = errors[n - 1];
    d->median = spread_median(errors, n);
    d->one_minus_r = aa > 0 && rr > 0 ? 1 - ar / sqrt(aa * rr) : 0;
    d->one_minus_r = d->one_minus_r > 0 ? d->one_minus_r : 0;
    free(errors);
    return COV_OK;
}

/* Compares fp32 with the scalar reference, on a short input since the reference is slow. */
static int check_fp32(const struct bench_setup *s, struct cov_err *e)
{
    struct bench_setup fast = *s;
    float *a = NULL, *ref = NULL;
    size_t n;
    struct distance d;
    fast.precision = COV_PRECISION_FP32;
    fast.threads = 1;
    fast.batch = 1;
    fast.length = bench_short_length(s);
    struct bench_setup scalar = fast;
    scalar.choice = (struct cov_device_choice){.kind = COV_DEVICE_CPU};
    scalar.levels = "scalar";
    int rc = compute(&fast, &a, &n, e);
    if (!rc)
        rc = compute(&scalar, &ref, &n, e);
    if (!rc)
        rc = compare(a, ref, n, &d, e);
    if (!rc && !(d.max < 1e-3))
        rc = cov_fail(e, COV_EINPUT, "fp32: relative error of %.2g against the scalar reference",
                      d.max);
    free(a);
    free(ref);
    return rc;
}

/* Adds the distance of a precision from fp32. */
static int measure_distance(struct bench *b, const struct bench_setup *s, const float *ref,
                            size_t n, struct cov_err *e)
{
    float *a = NULL;
    struct distance d;
    const char *name = cov_precision_name(s->precision);
    int rc = compute(s, &a, &n, e);
    if (!rc)
        rc = compare(a, ref, n, &d, e);
    free(a);
    if (rc)
        return rc;
    if (!(d.max < 0.5))
        return cov_fail(e, COV_EINPUT, "%s: relative error of %.2g against fp32", name, d.max);
    rc = figures_add_one(&b->figures, "of fp32", false, d.max, e,
                         "model/max_relative_error/precision=%s", name);
    if (!rc)
        rc = figures_add_one(&b->figures, "of fp32", false, d.median, e,
                             "model/median_relative_error/precision=%s", name);
    return rc ? rc
              : figures_add_one(&b->figures, "of fp32", false, d.one_minus_r, e,
                                "model/one_minus_r/precision=%s", name);
}

/* ---------------------------------------------------------------- training */

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

static int make_batch(const struct bench_setup *s, struct training *t, struct cov_err *e)
{
    size_t n = s->batch * s->length, n_outputs = (size_t)s->net->hp.output_size;
    struct cov_rng rng;
    t->codes = cov_malloc(n, 1, e);
    t->targets = cov_malloc(n * n_outputs, sizeof *t->targets, e);
    t->present = cov_malloc(s->batch * n_outputs, sizeof *t->present, e);
    if (!t->codes || !t->targets || !t->present)
        return COV_ENOMEM;
    bench_draw_codes(s->b->seed, t->codes, n);
    cov_rng_init(&rng, s->b->seed + 1);
    for (size_t i = 0; i < n * n_outputs; i++)
        t->targets[i] = (float)cov_rng_below(&rng, 5);
    memset(t->present, 1, s->batch * n_outputs * sizeof *t->present);
    t->batch = (struct cov_train_batch){
        .n = s->batch, .codes = t->codes, .targets = t->targets, .present = t->present};
    return COV_OK;
}

static int open_training(const struct bench_setup *s, struct training *t, struct cov_err *e)
{
    const struct cov_cpu_options cpu = {.precision = s->precision, .levels = s->levels};
    *t = (struct training){0};
    int rc = make_batch(s, t, e);
    if (!rc)
        rc = cov_device_open_cpu(&cpu, &t->dev, e);
    if (!rc)
        rc = cov_pool_new(s->threads, &t->pool, e);
    const struct cov_trainer_options options = {.hp = &s->net->hp,
                                                .L = s->length,
                                                .max_batch = s->batch,
                                                .seed = s->b->seed,
                                                .pool = t->pool};
    return rc ? rc : cov_trainer_new(t->dev, &options, s->net->block, &t->trainer, e);
}

static int learn(void *arg, struct cov_err *e)
{
    static const struct cov_adam adam = {0.001, 0.9, 0.999, 1e-8, 0, 0, 0};
    struct training *t = arg;
    struct cov_train_score score = {0};
    int rc = cov_trainer_batch(t->trainer, &t->batch, &score, e);
    return rc ? rc : cov_trainer_step(t->trainer, &adam, e);
}

static int run_training(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct bench_setup *s = arg;
    struct training t;
    int rc = open_training(s, &t, e);
    *value = 0;
    if (!rc)
        rc = learn(&t, e); /* warm-up */
    if (!rc && seconds > 0) {
        rc = bench_repeat(learn, &t, seconds, value, e);
        *value = (double)s->batch / *value;
    }
    close_training(&t);
    return rc;
}

static int draw_training(struct bench *b, const struct bench_cases *cases, struct cov_err *e)
{
    static const struct cov_chart like = {.file = "model_training",
                                          .title = "Speed of training by batch",
                                          .x = "chunks per batch",
                                          .y = "chunks/s"};
    struct cov_chart *chart;
    int rc = cov_charts_add(&b->charts, &like, &chart, e);
    for (size_t i = 0; i < cases->n && !rc; i++) {
        const struct bench_setup *s = cases->items[i].arg;
        rc = chart_add_figure(chart, cov_precision_name(s->precision), (double)s->batch,
                              figures_find(&b->figures, cases->items[i].name), 1, e);
    }
    return rc;
}

/* Measures all batches of the first precision, then those of the next. */
static int measure_training(struct bench_setup *setups, const struct numbers *precisions,
                            const struct numbers *batches, const struct bench_setup *common,
                            struct cov_err *e)
{
    struct bench_cases cases = {0};
    int rc = COV_OK;
    for (size_t i = 0; i < precisions->n * batches->n && !rc; i++) {
        struct bench_setup *s = &setups[i];
        *s = *common;
        s->precision = (enum cov_precision)precisions->items[i / batches->n];
        s->batch = (size_t)batches->items[i % batches->n];
        const struct bench_case c = {
            .name = cov_strfmt(e,
                               "model/training_chunks_per_second/device=cpu,precision=%s,batch=%zu,"
                               "threads=%u,length=%zu",
                               cov_precision_name(s->precision), s->batch, s->threads, s->length),
            .unit = "chunks/s",
            .higher_is_better = true,
            .run = run_training,
            .arg = s};
        rc = bench_cases_add(&cases, c, e);
    }
    if (!rc)
        rc = bench_run(common->b, "training", &cases, e);
    if (!rc)
        rc = draw_training(common->b, &cases, e);
    bench_cases_fini(&cases);
    return rc;
}

/* Trains (forward, backward and a step of Adam) on the CPU, from initial weights, on random bases
 * and targets, with chunks of L positions. */
static int bench_train(struct bench *b, const struct bench_net *net,
                       const struct numbers *precisions, const struct numbers *batches, size_t L,
                       struct cov_err *e)
{
    struct bench_setup *setups = cov_calloc(precisions->n * batches->n, sizeof *setups, e);
    struct bench_net initial = {0};
    int rc = setups ? bench_net_init(&net->hp, b->seed, &initial, e) : COV_ENOMEM;
    const struct bench_setup common = {.b = b, .net = &initial, .length = L, .threads = b->threads};
    if (!rc)
        rc = measure_training(setups, precisions, batches, &common, e);
    bench_net_close(&initial);
    free(setups);
    return rc;
}

/* ---------------------------------------------------------------- all of them */

/* Resolves "auto" to the device of this machine. */
static int find_device(const char *text, struct bench_setup *s, struct cov_err *e)
{
    struct cov_device *dev = NULL;
    int rc = cov_device_parse(text, &s->choice, e);
    s->device = text;
    if (rc || s->choice.kind != COV_DEVICE_AUTO)
        return rc;
    rc = cov_device_open(&s->choice, NULL, &dev, e);
    if (rc)
        return rc;
    bool is_cpu = strcmp(dev->ops->name, "cpu") == 0;
    cov_device_close(dev);
    s->device = is_cpu ? "cpu" : "cuda";
    return cov_device_parse(s->device, &s->choice, e);
}

/* Lists the requested precisions that training supports, without duplicates; exact counts as
 * fp32. */
static void find_training(const struct bench_model_options *o, struct numbers *out)
{
    out->n = 0;
    for (size_t i = 0; i < o->precisions.n; i++) {
        int64_t p = o->precisions.items[i];
        if (p == COV_PRECISION_EXACT)
            p = COV_PRECISION_FP32;
        if ((p == COV_PRECISION_FP32 || p == COV_PRECISION_BF16) && out->n < 2 &&
            (out->n == 0 || out->items[0] != p))
            out->items[out->n++] = p;
    }
}

struct sweep {
    struct bench *b;
    const struct bench_net *net;
    const struct bench_model_options *o;
    struct bench_setup *setups; /* of the cases */
    struct bench_cases cases;
};

static int add_case(struct sweep *w, struct bench_setup s, struct cov_err *e)
{
    struct bench_setup *copy = &w->setups[w->cases.n];
    struct bench_case c = {
        .name = cov_strfmt(
            e, "model/chunks_per_second/device=%s,precision=%s,batch=%zu,threads=%u,length=%zu",
            s.device, cov_precision_name(s.precision), s.batch, s.threads, s.length),
        .unit = "chunks/s",
        .higher_is_better = true,
        .run = run,
        .arg = copy};
    for (size_t i = 0; i < w->cases.n && c.name; i++)
        if (strcmp(w->cases.items[i].name, c.name) == 0) {
            free(c.name);
            return COV_OK;
        }
    *copy = s;
    return bench_cases_add(&w->cases, c, e);
}

/* Sets *s to the first entry of each list. */
static int first_setup(const struct sweep *w, struct bench_setup *s, struct cov_err *e)
{
    *s = (struct bench_setup){.b = w->b,
                              .net = w->net,
                              .batch = (size_t)w->o->batches.items[0],
                              .length = (size_t)w->o->lengths.items[0],
                              .threads = (unsigned)w->o->threads.items[0],
                              .precision = (enum cov_precision)w->o->precisions.items[0]};
    return find_device(w->o->devices.items[0], s, e);
}

static int plan(struct sweep *w, struct cov_err *e)
{
    const struct bench_model_options *o = w->o;
    struct bench_setup s;
    int rc = first_setup(w, &s, e);
    for (size_t d = 0; d < o->devices.n && !rc; d++)
        for (size_t p = 0; p < o->precisions.n && !rc; p++)
            for (size_t i = 0; i < o->batches.n && !rc; i++) {
                struct bench_setup k = s;
                rc = find_device(o->devices.items[d], &k, e);
                k.precision = (enum cov_precision)o->precisions.items[p];
                k.batch = (size_t)o->batches.items[i];
                if (!rc)
                    rc = add_case(w, k, e);
            }
    for (size_t i = 1; i < o->threads.n && !rc; i++) {
        struct bench_setup k = s;
        k.threads = (unsigned)o->threads.items[i];
        rc = add_case(w, k, e);
    }
    for (size_t i = 1; i < o->lengths.n && !rc; i++) {
        struct bench_setup k = s;
        k.length = (size_t)o->lengths.items[i];
        rc = add_case(w, k, e);
    }
    return rc;
}

static const struct figure *figure_of(const struct sweep *w, size_t i)
{
    return figures_find(&w->b->figures, w->cases.items[i].name);
}

static int add_speeds(const struct sweep *w, struct cov_err *e)
{
    struct bench *b = w->b;
    for (size_t i = 0; i < w->cases.n; i++) {
        const struct bench_setup *s = &w->setups[i];
        const struct figure *f = figure_of(w, i);
        if (!f)
            continue;
        if (COV_RESERVE(&b->speeds, &b->cap_speeds, b->n_speeds + 1, e))
            return COV_ENOMEM;
        b->speeds[b->n_speeds++] =
            (struct bench_speed){s->device,  cov_precision_name(s->precision), s->batch, s->length,
                                 s->threads, (size_t)(f - b->figures.items),   f->median};
    }
    return COV_OK;
}

/* Draws the speed by batch, with one line per precision, and one per device if there are several;
 * and by threads and by length, if there are several. */
static int draw(const struct sweep *w, struct cov_err *e)
{
    static const struct cov_chart like[] = {{.file = "model_batch",
                                             .title = "Speed by batch size",
                                             .x = "chunks per batch",
                                             .y = "chunks/s",
                                             .log_x = true},
                                            {.file = "model_threads",
                                             .title = "Speed by number of threads",
                                             .x = "threads",
                                             .y = "chunks/s"},
                                            {.file = "model_length",
                                             .title = "Speed by length of a chunk",
                                             .x = "positions of a chunk",
                                             .y = "thousand positions/s",
                                             .log_x = true}};
    const bool wanted[] = {true, w->o->threads.n > 1, w->o->lengths.n > 1};
    const struct bench_setup *first = &w->setups[0];
    struct cov_chart *charts[COV_COUNT(like)] = {NULL};
    int rc = COV_OK;
    for (size_t i = 0; i < COV_COUNT(like) && !rc; i++)
        if (wanted[i])
            rc = cov_charts_add(&w->b->charts, &like[i], &charts[i], e);
    for (size_t i = 0; i < w->cases.n && !rc; i++) {
        const struct bench_setup *s = &w->setups[i];
        const struct figure *f = figure_of(w, i);
        bool same_threads = s->threads == first->threads, same_length = s->length == first->length;
        bool same = s->precision == first->precision && s->batch == first->batch;
        char name[80];
        (void)snprintf(name, sizeof name, "%s%s%s", cov_precision_name(s->precision),
                       w->o->devices.n > 1 ? ", " : "", w->o->devices.n > 1 ? s->device : "");
        if (same_threads && same_length)
            rc = chart_add_figure(charts[0], name, (double)s->batch, f, 1, e);
        if (!rc && charts[1] && same && same_length)
            rc = chart_add_figure(charts[1], name, s->threads, f, 1, e);
        if (!rc && charts[2] && same && same_threads)
            rc = chart_add_figure(charts[2], name, (double)s->length, f, (double)s->length * 1e-3,
                                  e);
    }
    return rc;
}

/* Adds, for the best batch of each precision, its speed as a share of the measured peak of matrix
 * products. */
static int add_shares(const struct sweep *w, struct cov_err *e)
{
    double operations;
    const struct bench_setup *first = &w->setups[0];
    int rc = bench_net_operations(w->net, first->length, &operations, e);
    for (size_t p = 0; p < w->o->precisions.n && !rc; p++) {
        double best = 0;
        enum cov_precision precision = (enum cov_precision)w->o->precisions.items[p];
        for (size_t i = 0; i < w->cases.n; i++) {
            const struct bench_setup *s = &w->setups[i];
            const struct figure *f = figure_of(w, i);
            if (f && s->choice.kind == COV_DEVICE_CPU && s->threads == w->b->threads &&
                s->length == first->length && s->precision == precision && f->median > best)
                best = f->median;
        }
        bool bf16 = precision == COV_PRECISION_BF16 || precision == COV_PRECISION_BF16X3 ||
                    precision == COV_PRECISION_BALANCED;
        double limit = machine_probe_value(&w->b->machine, bf16 ? "bf16_gflops" : "fp32_gflops");
        if (limit > 0 && best > 0)
            rc = figures_add_one(&w->b->figures, "of the limit", true,
                                 best * operations * 1e-9 / limit, e,
                                 "model/limit_share/precision=%s", cov_precision_name(precision));
    }
    return rc;
}

/* Measures the distances of all precisions, for the network of `s`. */
static int measure_each_distance(const struct sweep *w, struct bench_setup s, struct cov_err *e)
{
    float *ref = NULL;
    size_t n = 0;
    int rc = compute(&s, &ref, &n, e);
    for (size_t i = 0; i < w->o->precisions.n && !rc; i++) {
        s.precision = (enum cov_precision)w->o->precisions.items[i];
        rc = measure_distance(w->b, &s, ref, n, e);
    }
    free(ref);
    return rc;
}

/* Random weights hardly respond to rounding, so distances are measured with a trained network: that
 * of the checkpoint, or else the demo's. */
static int measure_distances(const struct sweep *w, struct cov_err *e)
{
    struct bench_net demo = {0};
    struct bench_setup s;
    int rc = first_setup(w, &s, e);
    if (rc)
        return rc;
    s.batch = 2;
    s.threads = 1;
    s.precision = COV_PRECISION_FP32;
    rc = check_fp32(&s, e);
    if (!rc && !w->net->trained) {
        rc = bench_net_open_demo(&demo, e);
        s.net = demo.block ? &demo : NULL;
    }
    if (!rc && s.net)
        rc = measure_each_distance(w, s, e);
    if (!rc)
        rc = s.net ? bench_note(w->b, e, "Errors of the precisions: measured with %s.",
                                s.net == &demo ? "the demo's network" : "the same network")
                   : bench_note(w->b, e,
                                "Errors of the precisions: not measured, because that needs a "
                                "trained network (-m).");
    bench_net_close(&demo);
    return rc;
}

int bench_model(struct bench *b, const struct bench_net *net,
                const struct bench_model_options *options, struct cov_err *e)
{
    struct sweep w = {.b = b, .net = net, .o = options};
    const size_t most = options->devices.n * options->precisions.n * options->batches.n +
                        options->threads.n + options->lengths.n;
    struct numbers training;
    find_training(options, &training);
    w.setups = cov_calloc(most, sizeof *w.setups, e);
    int rc = w.setups ? plan(&w, e) : COV_ENOMEM;
    if (!rc)
        rc = measure_distances(&w, e);
    if (!rc)
        rc = bench_run(b, "measuring the network", &w.cases, e);
    if (!rc)
        rc = add_speeds(&w, e);
    if (!rc)
        rc = draw(&w, e);
    if (!rc)
        rc = add_shares(&w, e);
    if (!rc && options->training.n > 0)
        rc = bench_train(b, net, &training, &options->training, (size_t)options->lengths.items[0],
                         e);
    if (!rc)
        rc = bench_note(b, e,
                        "The network: %s. Chunks have %lld bases of one strand, if not stated.",
                        net->label, (long long)options->lengths.items[0]);
    if (!rc && bench_is_disturbed(b))
        rc = bench_note(b, e,
                        "The network: the machine was busy; compute threads got only %.0f %% of "
                        "their CPU time.",
                        100 * b->processor_had / b->processor_wanted);
    bench_cases_fini(&w.cases);
    free(w.setups);
    return rc;
}

/* ---------------------------------------------------------------- the subcommand */

struct model_config {
    struct benchmark_config common;
    struct bench_net net;
    struct bench_model_options o;
    struct cov_strings batches, precisions, threads, lengths, training;
};

#define FIELD(name) offsetof(struct model_config, name)

static const struct cov_opt model_options[] = {
    BENCHMARK_ROW(STRING, model, 'm', "CKPT",
                  "checkpoint, or the word combined: random weights in the published size",
                  .def = "combined"),
    BENCHMARK_LIST("batch-size", FIELD(batches), "N", "1,4,16",
                   "chunks that a thread computes at a time"),
    BENCHMARK_LIST("precision", FIELD(precisions), "P", "exact",
                   "exact, fp32, bf16x3, balanced, bf16, or tf32 (only on a GPU)"),
    BENCHMARK_LIST("device", FIELD(o.devices), "D", "auto",
                   "where to compute: cpu, cuda, cuda:0, or auto for the best available"),
    BENCHMARK_LIST(
        "threads-list", FIELD(threads), "N", NULL,
        "numbers of threads to compare, with the first precision and batch (default: all "
        "and one)"),
    BENCHMARK_LIST(
        "length", FIELD(lengths), "N", "21384",
        "positions of a chunk; lengths after the first are measured with the first precision "
        "and batch only"),
    BENCHMARK_LIST(
        "training", FIELD(training), "N", NULL,
        "also measure training on the CPU with these batch sizes, in fp32 (for exact and "
        "fp32) and bf16"),
    BENCHMARK_SECONDS("0.5"),
    BENCHMARK_REPEATS("5"),
    {.name = NULL},
};

static int read_precisions(const struct cov_strings *names, struct numbers *out, struct cov_err *e)
{
    for (size_t i = 0; i < names->n && i < NUMBERS_MAX; i++) {
        enum cov_precision p = COV_PRECISION_EXACT;
        while (p <= COV_PRECISION_TF32 && strcmp(names->items[i], cov_precision_name(p)) != 0)
            p++;
        if (p > COV_PRECISION_TF32)
            return cov_fail(e, COV_EUSAGE,
                            "--precision: '%s' is not exact, fp32, bf16x3, balanced, bf16 or tf32",
                            names->items[i]);
        out->items[out->n++] = p;
    }
    return COV_OK;
}

static int read_options(struct model_config *c, struct cov_err *e)
{
    struct bench_model_options *o = &c->o;
    const struct number_list lists[] = {
        {&c->batches, "--batch-size", 1, 4096, &o->batches, NULL},
        {&c->threads, "--threads-list", 1, 1024, &o->threads, NULL},
        {&c->lengths, "--length", 1, 1 << 24, &o->lengths, NULL},
        {&c->training, "--training", 1, 4096, &o->training, NULL},
    };
    struct cov_device_choice device;
    struct numbers precisions;
    int rc = read_precisions(&c->precisions, &o->precisions, e);
    if (!rc)
        rc = benchmark_numbers(lists, COV_COUNT(lists), e);
    for (size_t i = 0; i < o->devices.n && !rc; i++)
        rc = cov_device_parse(o->devices.items[i], &device, e);
    find_training(o, &precisions);
    if (!rc && o->training.n > 0 && precisions.n == 0)
        rc = cov_fail(e, COV_EUSAGE, "--training: needs fp32 or bf16 in --precision");
    return rc;
}

static int measure_model(struct bench *b, const void *arg, struct cov_err *e)
{
    const struct model_config *c = arg;
    return bench_model(b, &c->net, &c->o, e);
}

static int model_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    struct model_config *c = config;
    c->o.threads = benchmark_pair(common->threads, 1);
    int rc = read_options(c, e);
    if (!rc)
        rc = bench_net_open(c->common.model, (uint64_t)c->common.seed, &c->net, e);
    if (!rc)
        rc = benchmark_run(common, &c->common, BENCH_MODEL, measure_model, c, e);
    bench_net_close(&c->net);
    return rc;
}

const struct cov_tool benchmark_model = {
    .name = "model",
    .summary = "measure the network: batch, precision, threads, training, distance from fp32",
    BENCHMARK_OUTPUT(""),
    .examples = "  benchmark model --model combined --batch-size 1,4,16 --precision exact,bf16\n"
                "  benchmark model -m model.ckpt --training 8 -o results/\n",
    .options = model_options,
    .config_bytes = sizeof(struct model_config),
    .run = model_run,
};
