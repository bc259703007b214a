/* bench_model.c - see bench_model.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/compute/device_open.h"
#include "common/job/predict/model.h"
#include "common/net/net.h"
#include "common/net/shape.h"
#include "tools/benchmark/bench_layers.h"
#include "tools/benchmark/bench_train.h"
#include "tools/benchmark/random_model.h"
#include "tools/benchmark/spread.h"

/* ---------------------------------------------------------------- the network */

static int open_combined(uint64_t seed, struct cov_bench_net *out, struct cov_err *e)
{
    struct cov_params params = {0};
    out->hp = cov_combined_size;
    int rc = cov_params_init(&out->hp, &params, e);
    if (rc)
        return rc;
    out->label = cov_strdup("random weights, of the published size", e);
    out->block = cov_calloc64(params.n_floats, sizeof *out->block, e);
    if (out->block)
        cov_params_randomize(&out->hp, &params, seed, out->block);
    cov_params_fini(&params);
    return out->label && out->block ? COV_OK : COV_ENOMEM;
}

int cov_bench_net_open(const char *path, uint64_t seed, struct cov_bench_net *out,
                       struct cov_err *e)
{
    struct cov_model *model;
    *out = (struct cov_bench_net){0};
    if (strcmp(path, "combined") == 0)
        return open_combined(seed, out, e);
    int rc = cov_model_open(path, &model, e);
    if (rc)
        return rc;
    out->hp = model->hp;
    out->block = model->block;
    out->label = cov_strdup(model->description, e);
    model->block = NULL;
    cov_model_close(model);
    return out->label ? COV_OK : COV_ENOMEM;
}

void cov_bench_net_close(struct cov_bench_net *n)
{
    free(n->block);
    free(n->label);
    *n = (struct cov_bench_net){0};
}

int cov_bench_net_operations(const struct cov_bench_net *n, size_t L, double *operations,
                             struct cov_err *e)
{
    struct cov_params params = {0};
    struct cov_layer *layers = NULL;
    struct cov_layer_weights *weights = NULL;
    size_t n_layers = 0;
    int rc = cov_params_init(&n->hp, &params, e);
    if (!rc)
        rc = cov_shape(&n->hp, L, &params, n->block, &layers, &weights, &n_layers, e);
    *operations = 0;
    for (size_t i = 0; i < n_layers && !rc; i++)
        *operations += cov_bench_layer_operations(&layers[i]);
    free(layers);
    free(weights);
    cov_params_fini(&params);
    return rc;
}

/* ---------------------------------------------------------------- a case */

struct setup {
    struct cov_bench *b;
    const struct cov_bench_net *net;
    enum cov_precision precision;
    struct cov_device_choice choice;
    const char *device, *levels; /* device: a name of it; levels: NULL, all */
    size_t batch, length;
    unsigned threads;
    uint64_t seed;
};

/* The network of a setup on its device, and bases for it. */
struct loaded {
    struct cov_device *dev;
    struct cov_net *net;
    struct cov_pool *pool;
    size_t batch, n_codes, n_values; /* of a thread */
    uint8_t *codes;                  /* [threads, batch, L] */
    float *values;                   /* [threads, batch, L, outputs] */
    double (*spent)[2];              /* [threads] seconds of the processor, and that passed */
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
        rc = cov_net_new(l->dev, &s->net->hp, s->net->block, s->length, s->threads, s->batch,
                         &l->net, e);
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
        rc = cov_pool_for(l.pool, s->threads, forward, &l, e); /* touches its memory */
    double start = cov_clock(), spent = 0;
    size_t rounds = 0;
    while (!rc && seconds > 0 && (rounds == 0 || spent < seconds)) {
        rc = cov_pool_for(l.pool, s->threads, forward, &l, e);
        rounds++;
        spent = cov_clock() - start;
    }
    *value = rounds > 0 ? (double)(rounds * s->threads * s->batch) / spent : 0;
    /* More threads than there are processors take turns with each other. */
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
    cov_spread_sort(errors, n);
    d->max = errors[n - 1];
    d->median = cov_spread_median(errors, n);
    d->one_minus_r = aa > 0 && rr > 0 ? 1 - ar / sqrt(aa * rr) : 0;
    d->one_minus_r = d->one_minus_r > 0 ? d->one_minus_r : 0;
    free(errors);
    return COV_OK;
}

/* Single precision against the scalar reference, on a piece that it can do in a moment. */
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
        rc = cov_fail(e, COV_EINPUT,
                      "fp32 is %.2g off the scalar reference: nothing is measured of what is wrong",
                      d.max);
    free(a);
    free(ref);
    return rc;
}

/* The distance of each precision from fp32, over a chunk. */
static int measure_distance(struct cov_bench *b, struct setup s, const char *name, const float *ref,
                            size_t n, struct cov_err *e)
{
    float *a = NULL;
    struct distance d;
    char label[96];
    int rc = compute(&s, &a, &n, e);
    if (!rc)
        rc = compare(a, ref, n, &d, e);
    free(a);
    if (rc)
        return rc;
    if (!(d.max < 0.5))
        return cov_fail(e, COV_EINPUT, "%s is %.2g off fp32: nothing is measured of what is wrong",
                        name, d.max);
    (void)snprintf(label, sizeof label, "model/max_relative_error/precision=%s", name);
    rc = cov_figures_add_one(&b->figures, label, "of fp32", false, d.max, e);
    (void)snprintf(label, sizeof label, "model/median_relative_error/precision=%s", name);
    if (!rc)
        rc = cov_figures_add_one(&b->figures, label, "of fp32", false, d.median, e);
    (void)snprintf(label, sizeof label, "model/one_minus_r/precision=%s", name);
    return rc ? rc : cov_figures_add_one(&b->figures, label, "of fp32", false, d.one_minus_r, e);
}

/* ---------------------------------------------------------------- all of them */

static int parse_precision(const char *name, enum cov_precision *out, struct cov_err *e)
{
    for (enum cov_precision p = COV_PRECISION_EXACT; p <= COV_PRECISION_TF32; p++)
        if (strcmp(name, cov_precision_name(p)) == 0) {
            *out = p;
            return COV_OK;
        }
    return cov_fail(e, COV_EUSAGE,
                    "--precision: '%s' is none of exact, fp32, bf16x3, balanced, bf16, tf32", name);
}

/* "auto" becomes what it comes to here. */
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

/* Those of the precisions that a network is trained in (covtrain), of which exact is fp32, each
 * once: out[2]. */
static int find_training(const struct cov_bench_model_options *o, enum cov_precision out[2],
                         size_t *n, struct cov_err *e)
{
    enum cov_precision p = COV_PRECISION_EXACT;
    *n = 0;
    for (size_t i = 0; i < o->n_precisions; i++) {
        int rc = parse_precision(o->precisions[i], &p, e);
        if (rc)
            return rc;
        if (p == COV_PRECISION_EXACT)
            p = COV_PRECISION_FP32;
        if ((p == COV_PRECISION_FP32 || p == COV_PRECISION_BF16) && (*n == 0 || out[0] != p) &&
            *n < 2)
            out[(*n)++] = p;
    }
    return *n > 0 ? COV_OK
                  : cov_fail(e, COV_EUSAGE,
                             "--training: in fp32 or bf16, of which --precision has none");
}

int cov_bench_model_check(const struct cov_bench_model_options *options, struct cov_err *e)
{
    enum cov_precision ignored, training[2];
    struct cov_device_choice device;
    size_t n;
    int rc = COV_OK;
    for (size_t i = 0; i < options->n_precisions && !rc; i++)
        rc = parse_precision(options->precisions[i], &ignored, e);
    for (size_t i = 0; i < options->n_devices && !rc; i++)
        rc = cov_device_parse(options->devices[i], &device, e);
    return rc || options->n_training == 0 ? rc : find_training(options, training, &n, e);
}

struct sweep {
    struct cov_bench *b;
    const struct cov_bench_net *net;
    const struct cov_bench_model_options *o;
    struct setup *setups;
    struct cov_bench_case *cases;
    size_t n;
};

static char *name_case(const struct setup *s, struct cov_err *e)
{
    return cov_strfmt(
        e, "model/chunks_per_second/device=%s,precision=%s,batch=%zu,threads=%u,length=%zu",
        s->device, cov_precision_name(s->precision), s->batch, s->threads, s->length);
}

static int add_case(struct sweep *w, struct setup s, struct cov_err *e)
{
    char *name = name_case(&s, e);
    if (!name)
        return COV_ENOMEM;
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->cases[i].name, name) == 0) {
            free(name);
            return COV_OK;
        }
    w->setups[w->n] = s;
    w->cases[w->n] = (struct cov_bench_case){.name = name,
                                             .unit = "chunks/s",
                                             .higher_is_better = true,
                                             .run = run,
                                             .arg = &w->setups[w->n]};
    w->n++;
    return COV_OK;
}

/* The first of each list. */
static int first_setup(const struct sweep *w, struct setup *s, struct cov_err *e)
{
    *s = (struct setup){.b = w->b,
                        .net = w->net,
                        .batch = (size_t)w->o->batches[0],
                        .length = (size_t)w->o->lengths[0],
                        .threads = (unsigned)w->o->threads[0],
                        .seed = w->b->seed};
    int rc = find_device(w->o->devices[0], s, e);
    return rc ? rc : parse_precision(w->o->precisions[0], &s->precision, e);
}

static int plan(struct sweep *w, struct cov_err *e)
{
    const struct cov_bench_model_options *o = w->o;
    struct setup s;
    int rc = first_setup(w, &s, e);
    for (size_t d = 0; d < o->n_devices && !rc; d++)
        for (size_t p = 0; p < o->n_precisions && !rc; p++)
            for (size_t i = 0; i < o->n_batches && !rc; i++) {
                struct setup k = s;
                rc = find_device(o->devices[d], &k, e);
                if (!rc)
                    rc = parse_precision(o->precisions[p], &k.precision, e);
                k.batch = (size_t)o->batches[i];
                if (!rc)
                    rc = add_case(w, k, e);
            }
    for (size_t i = 1; i < o->n_threads && !rc; i++) {
        struct setup k = s;
        k.threads = (unsigned)o->threads[i];
        rc = add_case(w, k, e);
    }
    for (size_t i = 1; i < o->n_lengths && !rc; i++) {
        struct setup k = s;
        k.length = (size_t)o->lengths[i];
        rc = add_case(w, k, e);
    }
    return rc;
}

static const struct cov_figure *figure_of(const struct sweep *w, size_t i)
{
    return cov_figures_find(&w->b->figures, w->cases[i].name);
}

/* A point of the line of its precision, and of its device where there are several. */
static int add_point(struct cov_chart *c, const struct sweep *w, const struct setup *s, double x,
                     const struct cov_figure *f, struct cov_err *e)
{
    char name[80];
    (void)snprintf(name, sizeof name, "%s%s%s", cov_precision_name(s->precision),
                   w->o->n_devices > 1 ? ", " : "", w->o->n_devices > 1 ? s->device : "");
    return cov_chart_add(c, name, x, f->median, f->low, f->high, e);
}

static int chart_batches(const struct sweep *w, struct cov_err *e)
{
    struct cov_chart *c;
    int rc = cov_charts_add(&w->b->charts, COV_CHART_LINES, "model_batch",
                            "Chunks a second over the batch of a thread", "chunks of a batch",
                            "chunks/s", &c, e);
    if (rc)
        return rc;
    c->log_x = true;
    for (size_t i = 0; i < w->n && !rc; i++) {
        const struct setup *s = &w->setups[i], *first = &w->setups[0];
        const struct cov_figure *f = figure_of(w, i);
        if (f && s->threads == first->threads && s->length == first->length)
            rc = add_point(c, w, s, (double)s->batch, f, e);
    }
    return rc;
}

static int chart_others(const struct sweep *w, struct cov_err *e)
{
    struct cov_chart *threads = NULL, *lengths = NULL;
    const struct setup *first = &w->setups[0];
    int rc = COV_OK;
    if (w->o->n_threads > 1)
        rc = cov_charts_add(&w->b->charts, COV_CHART_LINES, "model_threads",
                            "Chunks a second over threads", "threads", "chunks/s", &threads, e);
    if (!rc && w->o->n_lengths > 1)
        rc = cov_charts_add(&w->b->charts, COV_CHART_LINES, "model_length",
                            "Positions a second over the length of chunks", "positions of a chunk",
                            "thousand positions/s", &lengths, e);
    if (lengths)
        lengths->log_x = true;
    for (size_t i = 0; i < w->n && !rc; i++) {
        const struct setup *s = &w->setups[i];
        const struct cov_figure *f = figure_of(w, i);
        double k = (double)s->length * 1e-3;
        if (!f || s->precision != first->precision || s->batch != first->batch)
            continue;
        if (threads && s->length == first->length)
            rc = cov_chart_add(threads, cov_precision_name(s->precision), s->threads, f->median,
                               f->low, f->high, e);
        if (!rc && lengths && s->threads == first->threads)
            rc = cov_chart_add(lengths, cov_precision_name(s->precision), (double)s->length,
                               f->median * k, f->low * k, f->high * k, e);
    }
    return rc;
}

/* What part of the matrix products that the machine can do the best batch of each precision does. */
static int add_shares(const struct sweep *w, struct cov_err *e)
{
    double operations;
    const struct setup *first = &w->setups[0];
    int rc = cov_bench_net_operations(w->net, first->length, &operations, e);
    for (size_t p = 0; p < w->o->n_precisions && !rc; p++) {
        double best = 0;
        const char *precision = w->o->precisions[p];
        char name[96];
        for (size_t i = 0; i < w->n; i++) {
            const struct setup *s = &w->setups[i];
            const struct cov_figure *f = figure_of(w, i);
            if (f && s->choice.kind == COV_DEVICE_CPU && s->threads == w->b->threads &&
                s->length == first->length &&
                strcmp(cov_precision_name(s->precision), precision) == 0 && f->median > best)
                best = f->median;
        }
        bool bf16 = strncmp(precision, "bf16", 4) == 0 || strcmp(precision, "balanced") == 0;
        double limit =
            cov_machine_probe_value(&w->b->machine, bf16 ? "bf16_gflops" : "fp32_gflops");
        (void)snprintf(name, sizeof name, "model/limit_share/precision=%s", precision);
        if (limit > 0 && best > 0)
            rc = cov_figures_add_one(&w->b->figures, name, "of the limit", true,
                                     best * operations * 1e-9 / limit, e);
    }
    return rc;
}

static int measure_distances(const struct sweep *w, struct cov_err *e)
{
    struct setup s;
    float *ref = NULL;
    size_t n = 0;
    int rc = first_setup(w, &s, e);
    if (rc)
        return rc;
    s.batch = 2;
    s.threads = 1;
    s.precision = COV_PRECISION_FP32;
    rc = check_fp32(&s, e);
    if (!rc)
        rc = compute(&s, &ref, &n, e);
    for (size_t i = 0; i < w->o->n_precisions && !rc; i++) {
        rc = parse_precision(w->o->precisions[i], &s.precision, e);
        if (!rc)
            rc = measure_distance(w->b, s, w->o->precisions[i], ref, n, e);
    }
    free(ref);
    return rc;
}

static int measure_training(const struct sweep *w, struct cov_err *e)
{
    enum cov_precision precisions[2];
    struct cov_bench_train_options o = {.precisions = precisions,
                                        .batches = w->o->training,
                                        .n_batches = w->o->n_training,
                                        .L = (size_t)w->o->lengths[0]};
    int rc = find_training(w->o, precisions, &o.n_precisions, e);
    return rc ? rc : cov_bench_train(w->b, w->net, &o, e);
}

int cov_bench_model(struct cov_bench *b, const struct cov_bench_net *net,
                    const struct cov_bench_model_options *options, struct cov_err *e)
{
    struct sweep w = {.b = b, .net = net, .o = options};
    size_t most = options->n_devices * options->n_precisions * options->n_batches +
                  options->n_threads + options->n_lengths;
    w.setups = cov_calloc(most, sizeof *w.setups, e);
    w.cases = cov_calloc(most, sizeof *w.cases, e);
    int rc = w.setups && w.cases ? plan(&w, e) : COV_ENOMEM;
    if (!rc)
        rc = measure_distances(&w, e);
    if (!rc)
        rc = cov_bench_run(b, "measuring the network", w.cases, w.n, e);
    if (!rc)
        rc = chart_batches(&w, e);
    if (!rc)
        rc = chart_others(&w, e);
    if (!rc)
        rc = add_shares(&w, e);
    if (!rc && options->layers)
        rc = cov_bench_layers(b, net, (size_t)options->lengths[0], e);
    if (!rc && options->n_training > 0)
        rc = measure_training(&w, e);
    if (!rc)
        rc = cov_bench_note(b, e, "The network: %s.", net->label);
    if (!rc && cov_bench_is_disturbed(b))
        rc = cov_bench_note(
            b, e,
            "The network: its threads had a processor for %.0f %% of their time, other "
            "programs had it for the rest.",
            100 * b->processor_had / b->processor_wanted);
    for (size_t i = 0; w.cases && i < w.n; i++)
        free(w.cases[i].name);
    free(w.cases);
    free(w.setups);
    return rc;
}
