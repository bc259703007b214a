/* bench_model.c - benchmark model: speed of the network by batch, precision, threads and length,
 * and the distance of each precision from fp32.
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
#include "tools/benchmark/measuring.h"

/* ---------------------------------------------------------------- a case */

struct setup {
    struct bench *b;
    const struct bench_net *net;
    enum cov_precision precision;
    struct cov_device_choice choice;
    const char *device, *levels; /* device: its name; levels: NULL for all */
    size_t batch, length;
    unsigned threads;
    uint64_t seed;
};

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

static int load(const struct setup *s, struct loaded *l, struct cov_err *e)
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
    struct cov_rng rng;
    cov_rng_init(&rng, s->seed);
    for (size_t i = 0; i < n; i++)
        l->codes[i] = (uint8_t)(1U << cov_rng_below(&rng, 4));
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

static int run(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct setup *s = arg;
    struct loaded l;
    int rc = load(s, &l, e);
    if (!rc)
        rc = cov_pool_for(l.pool, s->threads, forward, &l, e); /* warm-up */
    double start = cov_clock(), spent = 0;
    size_t rounds = 0;
    while (!rc && seconds > 0 && (rounds == 0 || spent < seconds)) {
        rc = cov_pool_for(l.pool, s->threads, forward, &l, e);
        rounds++;
        spent = cov_clock() - start;
    }
    *value = rounds > 0 ? (double)(rounds * s->threads * s->batch) / spent : 0;
    /* If there are more threads than processors, they take turns. */
    bool each_has_one = s->choice.kind == COV_DEVICE_CPU && s->threads <= cov_pool_default_size();
    for (unsigned i = 0; rounds > 0 && each_has_one && i < s->threads; i++) {
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
    spread_sort(errors, n);
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
    struct setup fast = *s, scalar;
    float *a = NULL, *ref = NULL;
    size_t n;
    struct distance d;
    size_t unit = 1;
    for (int64_t i = 0; i < s->net->hp.cnn_layers; i++)
        unit *= (size_t)s->net->hp.step;
    fast.precision = COV_PRECISION_FP32;
    fast.threads = 1;
    fast.batch = 1;
    fast.length = unit * (256 / unit + 1);
    fast.length = fast.length < s->length ? fast.length : s->length;
    scalar = fast;
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
    rc = figures_add_one(&b->figures, "of fp32", false, d.max, e,
                         "model/max_relative_error/precision=%s", name);
    if (!rc)
        rc = figures_add_one(&b->figures, "of fp32", false, d.median, e,
                             "model/median_relative_error/precision=%s", name);
    return rc ? rc
              : figures_add_one(&b->figures, "of fp32", false, d.one_minus_r, e,
                                "model/one_minus_r/precision=%s", name);
}

/* ---------------------------------------------------------------- all of them */

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

/* Lists the requested precisions that training supports, without duplicates; exact counts as fp32.
 * Returns their number. */
static size_t find_training(const struct bench_model_options *o, enum cov_precision out[2])
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_precisions; i++) {
        enum cov_precision p = o->precisions[i];
        if (p == COV_PRECISION_EXACT)
            p = COV_PRECISION_FP32;
        if ((p == COV_PRECISION_FP32 || p == COV_PRECISION_BF16) && (n == 0 || out[0] != p) &&
            n < 2)
            out[n++] = p;
    }
    return n;
}

struct sweep {
    struct bench *b;
    const struct bench_net *net;
    const struct bench_model_options *o;
    struct setup *setups; /* of the cases */
    struct bench_cases cases;
};

static int add_case(struct sweep *w, struct setup s, struct cov_err *e)
{
    struct setup *copy = &w->setups[w->cases.n];
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
static int first_setup(const struct sweep *w, struct setup *s, struct cov_err *e)
{
    *s = (struct setup){.b = w->b,
                        .net = w->net,
                        .batch = (size_t)w->o->batches.items[0],
                        .length = (size_t)w->o->lengths.items[0],
                        .threads = (unsigned)w->o->threads.items[0],
                        .seed = w->b->seed,
                        .precision = w->o->precisions[0]};
    return find_device(w->o->devices[0], s, e);
}

static int plan(struct sweep *w, struct cov_err *e)
{
    const struct bench_model_options *o = w->o;
    struct setup s;
    int rc = first_setup(w, &s, e);
    for (size_t d = 0; d < o->n_devices && !rc; d++)
        for (size_t p = 0; p < o->n_precisions && !rc; p++)
            for (size_t i = 0; i < o->batches.n && !rc; i++) {
                struct setup k = s;
                rc = find_device(o->devices[d], &k, e);
                k.precision = o->precisions[p];
                k.batch = (size_t)o->batches.items[i];
                if (!rc)
                    rc = add_case(w, k, e);
            }
    for (size_t i = 1; i < o->threads.n && !rc; i++) {
        struct setup k = s;
        k.threads = (unsigned)o->threads.items[i];
        rc = add_case(w, k, e);
    }
    for (size_t i = 1; i < o->lengths.n && !rc; i++) {
        struct setup k = s;
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
        const struct setup *s = &w->setups[i];
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

/* Draws one line per precision, and one per device if there are several. */
static int chart_batches(const struct sweep *w, struct cov_err *e)
{
    static const struct cov_chart like = {.kind = COV_CHART_LINES,
                                          .file = "model_batch",
                                          .title = "Speed by batch size",
                                          .x = "chunks per batch",
                                          .y = "chunks/s",
                                          .log_x = true};
    const struct setup *first = &w->setups[0];
    struct cov_chart *c;
    int rc = cov_charts_add(&w->b->charts, &like, &c, e);
    for (size_t i = 0; i < w->cases.n && !rc; i++) {
        const struct setup *s = &w->setups[i];
        char name[80];
        (void)snprintf(name, sizeof name, "%s%s%s", cov_precision_name(s->precision),
                       w->o->n_devices > 1 ? ", " : "", w->o->n_devices > 1 ? s->device : "");
        if (s->threads == first->threads && s->length == first->length)
            rc = chart_add_figure(c, name, (double)s->batch, figure_of(w, i), 1, e);
    }
    return rc;
}

static int chart_others(const struct sweep *w, struct cov_err *e)
{
    static const struct cov_chart like_threads = {.kind = COV_CHART_LINES,
                                                  .file = "model_threads",
                                                  .title = "Speed by number of threads",
                                                  .x = "threads",
                                                  .y = "chunks/s"};
    static const struct cov_chart like_lengths = {.kind = COV_CHART_LINES,
                                                  .file = "model_length",
                                                  .title = "Speed by length of a chunk",
                                                  .x = "positions of a chunk",
                                                  .y = "thousand positions/s",
                                                  .log_x = true};
    struct cov_chart *threads = NULL, *lengths = NULL;
    const struct setup *first = &w->setups[0];
    int rc = COV_OK;
    if (w->o->threads.n > 1)
        rc = cov_charts_add(&w->b->charts, &like_threads, &threads, e);
    if (!rc && w->o->lengths.n > 1)
        rc = cov_charts_add(&w->b->charts, &like_lengths, &lengths, e);
    for (size_t i = 0; i < w->cases.n && !rc; i++) {
        const struct setup *s = &w->setups[i];
        const char *precision = cov_precision_name(s->precision);
        if (s->precision != first->precision || s->batch != first->batch)
            continue;
        if (threads && s->length == first->length)
            rc = chart_add_figure(threads, precision, s->threads, figure_of(w, i), 1, e);
        if (!rc && lengths && s->threads == first->threads)
            rc = chart_add_figure(lengths, precision, (double)s->length, figure_of(w, i),
                                  (double)s->length * 1e-3, e);
    }
    return rc;
}

/* Adds, for the best batch of each precision, its speed as a share of the measured peak of matrix
 * products. */
static int add_shares(const struct sweep *w, struct cov_err *e)
{
    double operations;
    const struct setup *first = &w->setups[0];
    int rc = bench_net_operations(w->net, first->length, &operations, e);
    for (size_t p = 0; p < w->o->n_precisions && !rc; p++) {
        double best = 0;
        enum cov_precision precision = w->o->precisions[p];
        for (size_t i = 0; i < w->cases.n; i++) {
            const struct setup *s = &w->setups[i];
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
static int measure_each_distance(const struct sweep *w, struct setup s, struct cov_err *e)
{
    float *ref = NULL;
    size_t n = 0;
    int rc = compute(&s, &ref, &n, e);
    for (size_t i = 0; i < w->o->n_precisions && !rc; i++) {
        s.precision = w->o->precisions[i];
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
    struct setup s;
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

static int measure_training(const struct sweep *w, struct cov_err *e)
{
    enum cov_precision precisions[2];
    const struct bench_train_options o = {.precisions = precisions,
                                          .n_precisions = find_training(w->o, precisions),
                                          .batches = w->o->training,
                                          .L = (size_t)w->o->lengths.items[0]};
    return bench_train(w->b, w->net, &o, e);
}

int bench_model(struct bench *b, const struct bench_net *net,
                const struct bench_model_options *options, struct cov_err *e)
{
    struct sweep w = {.b = b, .net = net, .o = options};
    size_t most = options->n_devices * options->n_precisions * options->batches.n +
                  options->threads.n + options->lengths.n;
    w.setups = cov_calloc(most, sizeof *w.setups, e);
    int rc = w.setups ? plan(&w, e) : COV_ENOMEM;
    if (!rc)
        rc = measure_distances(&w, e);
    if (!rc)
        rc = bench_run(b, "measuring the network", &w.cases, e);
    if (!rc)
        rc = add_speeds(&w, e);
    if (!rc)
        rc = chart_batches(&w, e);
    if (!rc)
        rc = chart_others(&w, e);
    if (!rc)
        rc = add_shares(&w, e);
    if (!rc && options->layers)
        rc = bench_layers(b, net, (size_t)options->lengths.items[0], options->precisions[0], e);
    if (!rc && options->training.n > 0)
        rc = measure_training(&w, e);
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
    const char *model;
    struct cov_strings batches, precisions, devices, threads, lengths, training;
    bool layers;
};

#define FIELD(name) offsetof(struct model_config, name)

static const struct cov_opt model_options[] = {
    COV_OPT(STRING, "model", 'm', FIELD(model), "CKPT",
            "checkpoint, or the word combined: random weights in the published size",
            .def = "combined"),
    BENCHMARK_LIST("batch-size", FIELD(batches), "N", "1,4,16",
                   "chunks that a thread computes at a time"),
    BENCHMARK_LIST("precision", FIELD(precisions), "P", "exact",
                   "exact, fp32, bf16x3, balanced, bf16, or tf32 (only on a GPU)"),
    BENCHMARK_LIST("device", FIELD(devices), "D", "auto",
                   "where to compute: cpu, cuda, cuda:0, or auto for the best available"),
    BENCHMARK_LIST(
        "threads-list", FIELD(threads), "N", NULL,
        "numbers of threads to compare, with the first precision and batch (default: all "
        "and one)"),
    BENCHMARK_LIST(
        "length", FIELD(lengths), "N", "21384",
        "positions of a chunk; lengths after the first are measured with the first precision "
        "and batch only"),
    COV_OPT(FLAG, "layers", 0, FIELD(layers), NULL,
            "also measure each layer on one core, in the first precision"),
    BENCHMARK_LIST(
        "training", FIELD(training), "N", NULL,
        "also measure training on the CPU with these batch sizes, in fp32 (for exact and "
        "fp32) and bf16"),
    BENCHMARK_OPTIONS("5", "0.5"),
    {.name = NULL},
};

static int read_precisions(const struct cov_strings *names, enum cov_precision **out,
                           struct cov_err *e)
{
    *out = cov_calloc(names->n + 1, sizeof **out, e);
    for (size_t i = 0; *out && i < names->n; i++) {
        enum cov_precision p = COV_PRECISION_EXACT;
        while (p <= COV_PRECISION_TF32 && strcmp(names->items[i], cov_precision_name(p)) != 0)
            p++;
        if (p > COV_PRECISION_TF32)
            return cov_fail(e, COV_EUSAGE,
                            "--precision: '%s' is not exact, fp32, bf16x3, balanced, bf16 or tf32",
                            names->items[i]);
        (*out)[i] = p;
    }
    return *out ? COV_OK : COV_ENOMEM;
}

static int read_options(const struct cov_common *common, const struct model_config *c,
                        struct bench_model_options *o, struct cov_err *e)
{
    int64_t all_and_one[] = {common->threads, 1};
    const struct number_limits batches = {.option = "--batch-size", .min = 1, .max = 4096};
    const struct number_limits threads = {.option = "--threads-list",
                                          .min = 1,
                                          .max = 1024,
                                          .def = {all_and_one, common->threads > 1 ? 2 : 1}};
    const struct number_limits lengths = {.option = "--length", .min = 1, .max = 1 << 24};
    const struct number_limits training = {.option = "--training", .min = 1, .max = 4096};
    enum cov_precision unused[2];
    struct cov_device_choice device;
    o->n_precisions = c->precisions.n;
    o->devices = (const char *const *)c->devices.items;
    o->n_devices = c->devices.n;
    o->layers = c->layers;
    int rc = benchmark_numbers(&c->batches, &batches, &o->batches, e);
    if (!rc)
        rc = benchmark_numbers(&c->threads, &threads, &o->threads, e);
    if (!rc)
        rc = benchmark_numbers(&c->lengths, &lengths, &o->lengths, e);
    if (!rc)
        rc = benchmark_numbers(&c->training, &training, &o->training, e);
    for (size_t i = 0; i < o->n_devices && !rc; i++)
        rc = cov_device_parse(o->devices[i], &device, e);
    if (!rc && o->training.n > 0 && find_training(o, unused) == 0)
        rc = cov_fail(e, COV_EUSAGE, "--training: needs fp32 or bf16 in --precision");
    return rc;
}

static int model_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct model_config *c = config;
    struct bench_model_options o = {0};
    struct bench_net net = {0};
    struct bench b = {0};
    enum cov_precision *precisions = NULL;
    int rc = read_precisions(&c->precisions, &precisions, e);
    o.precisions = precisions;
    if (!rc)
        rc = read_options(common, c, &o, e);
    if (!rc)
        rc = bench_net_open(c->model, (uint64_t)c->common.seed, &net, e);
    if (!rc)
        rc = benchmark_begin(common, &c->common, BENCH_MODEL, 4 * c->common.seconds, &b, e);
    if (!rc)
        rc = bench_model(&b, &net, &o, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    bench_fini(&b);
    bench_net_close(&net);
    free(precisions);
    free(o.batches.items);
    free(o.threads.items);
    free(o.lengths.items);
    free(o.training.items);
    return rc;
}

const struct cov_tool benchmark_model = {
    .name = "model",
    .summary = "measure the network: batch, precision, threads, layers, distance from fp32",
    BENCHMARK_OUTPUT,
    .examples = "  benchmark model --model combined --batch-size 1,4,16 --precision exact,bf16\n"
                "  benchmark model -m model.ckpt --layers -o results/\n",
    .options = model_options,
    .config_bytes = sizeof(struct model_config),
    .run = model_run,
};
