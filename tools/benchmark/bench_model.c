/* bench_model.c - benchmark model: speed of the network by batch, precision, threads and length,
 * the distance of each precision from fp32, and speed of training.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/rng.h"
#include "common/base/sort.h"
#include "common/compute/device_open.h"
#include "common/net/net.h"
#include "common/net/train.h"
#include "common/seq/alphabet.h"
#include "tools/benchmark/bench.h"

/* How to compute with a network, or how to train it. */
struct setup {
    struct bench *b;
    const struct bench_net *net;
    enum cov_precision precision;
    struct cov_device_choice choice;
    const char *device, *levels; /* device: its name; levels: of the CPU, NULL for all */
    size_t batch, length;
    unsigned threads;
    bool trains; /* forward, backward and a step of Adam, on the CPU */
    bool several_devices;
    const struct setup *first; /* the one that the others differ from */
};

/* ---------------------------------------------------------------- a case */

/* The network of a setup on its device, with input and output. */
struct loaded {
    struct cov_device *dev;
    struct cov_net *net;         /* NULL: trains */
    struct cov_trainer *trainer; /* NULL: does not train */
    struct cov_pool *pool;
    size_t batch, n_codes, n_values; /* per thread */
    uint8_t *codes;                  /* [threads, batch, L] */
    float *values;                   /* [threads, batch, L, outputs]; or targets */
    bool *present;                   /* [batch, outputs] of the targets */
    double (*spent)[2];              /* [threads] CPU and wall seconds */
};

static void unload(struct loaded *l)
{
    cov_trainer_free(l->trainer);
    cov_pool_free(l->pool);
    cov_net_free(l->net);
    cov_device_close(l->dev);
    free(l->values);
    free(l->codes);
    free(l->present);
    free(l->spent);
}

static int load_trainer(const struct setup *s, struct loaded *l, struct cov_err *e)
{
    const struct cov_trainer_options options = {.hp = &s->net->hp,
                                                .L = s->length,
                                                .max_batch = s->batch,
                                                .seed = BENCH_SEED,
                                                .pool = l->pool};
    const size_t n = s->batch * (size_t)s->net->hp.output_size;
    struct cov_rng rng;
    l->present = cov_malloc(n, sizeof *l->present, e);
    if (!l->present)
        return COV_ENOMEM;
    memset(l->present, 1, n * sizeof *l->present);
    cov_rng_init(&rng, BENCH_SEED + 1);
    for (size_t i = 0; i < l->n_values; i++)
        l->values[i] = (float)cov_rng_below(&rng, 5);
    return cov_trainer_new(l->dev, &options, s->net->block, &l->trainer, e);
}

static int load(const struct setup *s, struct loaded *l, struct cov_err *e)
{
    const struct cov_cpu_options cpu = {.precision = s->precision, .levels = s->levels};
    const struct cov_net_size size = {s->length, s->threads, s->batch};
    size_t n = s->threads * s->batch * s->length;
    struct cov_rng rng;
    *l = (struct loaded){.n_values = s->batch * s->length * (size_t)s->net->hp.output_size,
                         .n_codes = s->batch * s->length,
                         .batch = s->batch};
    int rc = cov_device_open(&s->choice, &cpu, &l->dev, e);
    if (!rc)
        rc = cov_pool_new(s->threads, &l->pool, e);
    if (rc)
        return rc;
    l->codes = cov_malloc(n, 1, e);
    l->values = cov_malloc(s->threads * l->n_values, sizeof *l->values, e);
    l->spent = cov_calloc(s->threads, sizeof *l->spent, e);
    if (!l->codes || !l->values || !l->spent)
        return COV_ENOMEM;
    cov_rng_init(&rng, BENCH_SEED);
    for (size_t i = 0; i < n; i++)
        l->codes[i] = (uint8_t)(COV_CODE_A << cov_rng_below(&rng, 4));
    return s->trains ? load_trainer(s, l, e)
                     : cov_net_new(l->dev, &s->net->hp, s->net->block, size, &l->net, e);
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

static int learn(struct loaded *l, struct cov_err *e)
{
    static const struct cov_adam adam = {0.001, 0.9, 0.999, 1e-8, 0, 0, 0};
    const struct cov_train_batch batch = {
        .n = l->batch, .codes = l->codes, .targets = l->values, .present = l->present};
    struct cov_train_score score = {0};
    int rc = cov_trainer_batch(l->trainer, &batch, &score, e);
    return rc ? rc : cov_trainer_step(l->trainer, &adam, e);
}

static int compute_once(void *arg, struct cov_err *e)
{
    struct loaded *l = arg;
    return l->trainer ? learn(l, e) : cov_pool_for(l->pool, cov_pool_size(l->pool), forward, l, e);
}

static int run(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct setup *s = arg;
    struct loaded l;
    int rc = load(s, &l, e);
    *value = 0;
    if (!rc)
        rc = compute_once(&l, e); /* warm-up */
    if (!rc && seconds > 0) {
        rc = bench_repeat(compute_once, &l, seconds, value, e);
        *value = (s->trains ? 1 : s->threads) * (double)s->batch / *value;
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

static int compute(const struct setup *s, float **values, size_t *n, struct cov_err *e)
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
    cov_sort_doubles(errors, n);
    d->max = errors[n - 1];
    d->median = spread_median(errors, n);
    d->one_minus_r = aa > 0 && rr > 0 ? 1 - ar / sqrt(aa * rr) : 0;
    d->one_minus_r = d->one_minus_r > 0 ? d->one_minus_r : 0;
    free(errors);
    return COV_OK;
}

/* Compares fp32 with the scalar reference, on a short input since the reference is slow. */
static int check_fp32(const struct setup *s, struct cov_err *e)
{
    struct setup fast = *s;
    float *a = NULL, *ref = NULL;
    size_t n;
    struct distance d;
    fast.precision = COV_PRECISION_FP32;
    fast.threads = 1;
    fast.batch = 1;
    size_t unit = 1;
    for (int64_t i = 0; i < s->net->hp.cnn_layers; i++)
        unit *= (size_t)s->net->hp.step;
    fast.length = unit * (256 / unit + 1);
    fast.length = fast.length < s->length ? fast.length : s->length;
    struct setup scalar = fast;
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
static int measure_distance(struct bench *b, const struct setup *s, const float *ref, size_t n,
                            struct cov_err *e)
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
    rc = figures_add_one(&b->figures, d.max, e, "model/max_relative_error/precision=%s", name);
    if (!rc)
        rc = figures_add_one(&b->figures, d.median, e, "model/median_relative_error/precision=%s",
                             name);
    return rc ? rc
              : figures_add_one(&b->figures, d.one_minus_r, e, "model/one_minus_r/precision=%s",
                                name);
}

/* ---------------------------------------------------------------- the cases */

/* Resolves "auto" to the device of this machine. */
static int find_device(const char *text, struct setup *s, struct cov_err *e)
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

static int find_precisions(const struct cov_strings *names, struct numbers *out, struct cov_err *e)
{
    out->n = 0;
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

/* Lists those of the precisions that training supports, without duplicates; exact counts as
 * fp32. */
static void find_training(const struct numbers *precisions, struct numbers *out)
{
    out->n = 0;
    for (size_t i = 0; i < precisions->n; i++) {
        int64_t p = precisions->items[i];
        if (p == COV_PRECISION_EXACT)
            p = COV_PRECISION_FP32;
        if ((p == COV_PRECISION_FP32 || p == COV_PRECISION_BF16) && out->n < 2 &&
            (out->n == 0 || out->items[0] != p))
            out->items[out->n++] = p;
    }
}

struct sweep {
    struct bench *b;
    const struct model_options *o;
    struct bench_net net, initial; /* initial: the weights before training */
    struct numbers threads, precisions;
    struct setup first;   /* the first entry of each list */
    struct setup *setups; /* of the cases */
    struct bench_cases cases;
};

static int add_case(struct sweep *w, const struct setup *s, struct cov_err *e)
{
    struct setup *copy = &w->setups[w->cases.n];
    for (const struct setup *k = w->setups; k < copy; k++)
        if (strcmp(k->device, s->device) == 0 && k->precision == s->precision &&
            k->batch == s->batch && k->threads == s->threads && k->length == s->length &&
            k->trains == s->trains)
            return COV_OK;
    *copy = *s;
    return bench_cases_add(
        &w->cases, copy, e, "model/%s/device=%s,precision=%s,batch=%zu,threads=%u,length=%zu",
        s->trains ? "training_chunks_per_second" : "chunks_per_second", s->device,
        cov_precision_name(s->precision), s->batch, s->threads, s->length);
}

static int plan_training(struct sweep *w, struct cov_err *e)
{
    const struct numbers *batches = &w->o->training;
    struct numbers precisions;
    struct setup s = w->first;
    find_training(&w->precisions, &precisions);
    int rc = bench_net_init(&w->net.hp, &w->initial, e);
    if (!rc)
        rc = find_device("cpu", &s, e);
    s.net = &w->initial;
    s.threads = w->b->threads;
    s.trains = true;
    for (size_t i = 0; i < precisions.n * batches->n && !rc; i++) {
        s.precision = (enum cov_precision)precisions.items[i / batches->n];
        s.batch = (size_t)batches->items[i % batches->n];
        rc = add_case(w, &s, e);
    }
    return rc;
}

static int plan(struct sweep *w, struct cov_err *e)
{
    const struct model_options *o = w->o;
    w->first = (struct setup){.b = w->b,
                              .net = &w->net,
                              .batch = (size_t)o->batches.items[0],
                              .length = (size_t)o->lengths.items[0],
                              .threads = (unsigned)w->threads.items[0],
                              .precision = (enum cov_precision)w->precisions.items[0],
                              .several_devices = o->devices.n > 1,
                              .first = &w->first};
    int rc = find_device(o->devices.items[0], &w->first, e);
    for (size_t d = 0; d < o->devices.n && !rc; d++)
        for (size_t i = 0; i < w->precisions.n * o->batches.n && !rc; i++) {
            struct setup s = w->first;
            s.precision = (enum cov_precision)w->precisions.items[i / o->batches.n];
            s.batch = (size_t)o->batches.items[i % o->batches.n];
            rc = find_device(o->devices.items[d], &s, e);
            if (!rc)
                rc = add_case(w, &s, e);
        }
    for (size_t i = 1; i < w->threads.n && !rc; i++) {
        struct setup s = w->first;
        s.threads = (unsigned)w->threads.items[i];
        rc = add_case(w, &s, e);
    }
    for (size_t i = 1; i < o->lengths.n && !rc; i++) {
        struct setup s = w->first;
        s.length = (size_t)o->lengths.items[i];
        rc = add_case(w, &s, e);
    }
    return rc || o->training.n == 0 ? rc : plan_training(w, e);
}

/* ---------------------------------------------------------------- results */

static int add_speeds(const struct sweep *w, struct cov_err *e)
{
    struct bench *b = w->b;
    for (size_t i = 0; i < w->cases.n; i++) {
        const struct setup *s = &w->setups[i];
        const struct figure *f = figures_find(&b->figures, w->cases.items[i].name);
        if (!f || s->trains)
            continue;
        if (COV_RESERVE(&b->speeds, &b->cap_speeds, b->n_speeds + 1, e))
            return COV_ENOMEM;
        b->speeds[b->n_speeds++] =
            (struct bench_speed){s->device,  cov_precision_name(s->precision), s->batch, s->length,
                                 s->threads, (size_t)(f - b->figures.items),   f->median};
    }
    return COV_OK;
}

/* One line per precision, and per device if there are several. */
static void name_series(const struct setup *s, char series[64])
{
    (void)snprintf(series, 64, "%s%s%s", cov_precision_name(s->precision),
                   s->several_devices ? ", " : "", s->several_devices ? s->device : "");
}

static double by_batch(const void *arg, char series[64], double *x)
{
    const struct setup *s = arg, *first = s->first;
    name_series(s, series);
    *x = (double)s->batch;
    return !s->trains && s->threads == first->threads && s->length == first->length;
}

static double by_threads(const void *arg, char series[64], double *x)
{
    const struct setup *s = arg, *first = s->first;
    name_series(s, series);
    *x = s->threads;
    return !s->trains && s->precision == first->precision && s->batch == first->batch &&
           s->length == first->length;
}

static double by_length(const void *arg, char series[64], double *x)
{
    const struct setup *s = arg, *first = s->first;
    name_series(s, series);
    *x = (double)s->length;
    return !s->trains && s->precision == first->precision && s->batch == first->batch &&
                   s->threads == first->threads
               ? 1e-3 * (double)s->length
               : 0;
}

static double training_by_batch(const void *arg, char series[64], double *x)
{
    const struct setup *s = arg;
    (void)snprintf(series, 64, "%s", cov_precision_name(s->precision));
    *x = (double)s->batch;
    return s->trains;
}

static int draw(const struct sweep *w, struct cov_err *e)
{
    const struct {
        bool wanted;
        double (*place)(const void *arg, char series[64], double *x);
        struct cov_chart like;
    } charts[] = {
        {true,
         by_batch,
         {.file = "model_batch",
          .title = "Speed by batch size",
          .x = "chunks per batch",
          .y = "chunks/s",
          .log_x = true}},
        {w->threads.n > 1,
         by_threads,
         {.file = "model_threads",
          .title = "Speed by number of threads",
          .x = "threads",
          .y = "chunks/s"}},
        {w->o->lengths.n > 1,
         by_length,
         {.file = "model_length",
          .title = "Speed by length of a chunk",
          .x = "positions of a chunk",
          .y = "thousand positions/s",
          .log_x = true}},
        {w->o->training.n > 0,
         training_by_batch,
         {.file = "model_training",
          .title = "Speed of training by batch",
          .x = "chunks per batch",
          .y = "chunks/s"}},
    };
    int rc = COV_OK;
    for (size_t i = 0; i < COV_COUNT(charts) && !rc; i++)
        if (charts[i].wanted)
            rc = bench_draw(w->b, &charts[i].like, &w->cases, charts[i].place, e);
    return rc;
}

/* Adds, for the best batch of each precision, its speed as a share of the measured peak of matrix
 * products. */
static int add_shares(const struct sweep *w, struct cov_err *e)
{
    double operations;
    const struct bench *b = w->b;
    int rc = bench_net_operations(&w->net, w->first.length, &operations, e);
    for (size_t p = 0; p < w->precisions.n && !rc; p++) {
        double best = 0;
        enum cov_precision precision = (enum cov_precision)w->precisions.items[p];
        const char *name = cov_precision_name(precision);
        for (const struct bench_speed *s = b->speeds; s < b->speeds + b->n_speeds; s++)
            if (strcmp(s->device, "cpu") == 0 && s->threads == b->threads &&
                s->length == w->first.length && strcmp(s->precision, name) == 0 && s->median > best)
                best = s->median;
        bool bf16 = precision == COV_PRECISION_BF16 || precision == COV_PRECISION_BF16X3 ||
                    precision == COV_PRECISION_BALANCED;
        double limit = b->machine.probes[bf16 ? PROBE_BF16 : PROBE_FP32];
        if (limit > 0 && best > 0)
            rc = figures_add_one(&w->b->figures, best * operations * 1e-9 / limit, e,
                                 "model/limit_share/precision=%s", name);
    }
    return rc;
}

/* Measures the distances of all precisions, for the network of `s`. */
static int measure_each_distance(const struct sweep *w, struct setup s, struct cov_err *e)
{
    float *ref = NULL;
    size_t n = 0;
    int rc = compute(&s, &ref, &n, e);
    for (size_t i = 0; i < w->precisions.n && !rc; i++) {
        s.precision = (enum cov_precision)w->precisions.items[i];
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
    struct setup s = w->first;
    s.batch = 2;
    s.threads = 1;
    s.precision = COV_PRECISION_FP32;
    int rc = check_fp32(&s, e);
    if (!rc && !w->net.trained) {
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

static int measure(struct sweep *w, struct cov_err *e)
{
    struct bench *b = w->b;
    int rc = plan(w, e);
    if (!rc)
        rc = measure_distances(w, e);
    if (!rc)
        rc = bench_run(b, "measuring the network", &w->cases, e);
    if (!rc)
        rc = add_speeds(w, e);
    if (!rc)
        rc = draw(w, e);
    if (!rc)
        rc = add_shares(w, e);
    if (!rc)
        rc =
            bench_note(b, e, "The network: %s. Chunks have %zu bases of one strand, if not stated.",
                       w->net.label, w->first.length);
    if (!rc && bench_is_disturbed(b))
        rc = bench_note(b, e,
                        "The network: the machine was busy; compute threads got only %.0f %% of "
                        "their CPU time.",
                        100 * b->processor_had / b->processor_wanted);
    return rc;
}

int bench_model(struct bench *b, const void *options, struct cov_err *e)
{
    const struct model_options *o = options;
    const char *model = o->common.model ? o->common.model : BENCH_NET_COMBINED;
    struct sweep w = {
        .b = b, .o = o, .threads = benchmark_threads(b->threads), .cases = {.run = run}};
    int rc = find_precisions(&o->precisions, &w.precisions, e);
    if (!rc)
        rc = bench_net_open(model, &w.net, e);
    w.setups = cov_calloc(w.precisions.n * (o->devices.n * o->batches.n + o->training.n) +
                              w.threads.n + o->lengths.n,
                          sizeof *w.setups, e);
    if (!rc)
        rc = w.setups ? measure(&w, e) : COV_ENOMEM;
    bench_cases_fini(&w.cases);
    bench_net_close(&w.net);
    bench_net_close(&w.initial);
    free(w.setups);
    return rc;
}

/* ---------------------------------------------------------------- the subcommand */

#define FIELD(name) offsetof(struct model_options, name)

static const struct cov_opt model_rows[] = {
    BENCHMARK_ROW(STRING, model, 'm', "CKPT",
                  "checkpoint, or the word combined: random weights in the published size",
                  .def = BENCH_NET_COMBINED),
    BENCHMARK_LIST("batch-size", FIELD(batches), "1,4,16", 1, 4096,
                   "chunks that a thread computes at a time"),
    COV_OPT(LIST, "precision", 0, FIELD(precisions), "P,...",
            "exact, fp32, bf16x3, balanced, bf16, or tf32 (only on a GPU)", .def = "exact"),
    COV_OPT(LIST, "device", 0, FIELD(devices), "D,...",
            "where to compute: cpu, cuda, cuda:0, or auto for the best available", .def = "auto"),
    BENCHMARK_LIST(
        "length", FIELD(lengths), "21384", 1, 1 << 24,
        "positions of a chunk; lengths after the first are measured with the first precision "
        "and batch only"),
    BENCHMARK_LIST(
        "training", FIELD(training), NULL, 1, 4096,
        "also measure training on the CPU with these batch sizes, in fp32 (for exact and "
        "fp32) and bf16"),
    BENCHMARK_SECONDS("0.5"),
    BENCHMARK_REPEATS("5"),
    {.name = NULL},
};

static int model_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct model_options *o = config;
    struct cov_device_choice device;
    struct numbers precisions, training;
    int rc = find_precisions(&o->precisions, &precisions, e);
    if (!rc)
        rc = benchmark_numbers(model_rows, config, e);
    for (size_t i = 0; i < o->devices.n && !rc; i++)
        rc = cov_device_parse(o->devices.items[i], &device, e);
    if (rc)
        return rc;
    find_training(&precisions, &training);
    if (o->training.n > 0 && training.n == 0)
        return cov_fail(e, COV_EUSAGE, "--training: needs fp32 or bf16 in --precision");
    return benchmark_run(common, config, false, bench_model, e);
}

const struct cov_tool benchmark_model = {
    .name = "model",
    .summary = "measure the network: batch, precision, threads, training, distance from fp32",
    BENCHMARK_OUTPUT(""),
    .examples = "  benchmark model --model combined --batch-size 1,4,16 --precision exact,bf16\n"
                "  benchmark model -m model.ckpt --training 8 -o results/\n",
    .options = model_rows,
    .config_bytes = sizeof(struct model_options),
    .run = model_run,
};
