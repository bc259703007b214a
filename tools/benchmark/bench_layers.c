/* bench_layers.c - time of each layer of the network on one core.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/compute/cpu/kernels/level.h"
#include "common/compute/cpu/layers/conv.h"
#include "common/compute/cpu/layers/lstm.h"
#include "common/compute/cpu/layers/precision.h"
#include "common/net/shape.h"
#include "common/seq/alphabet.h"
#include "tools/benchmark/measuring.h"

/* How a layer is computed: by matrix products, as a convolution with fewer multiplications
 * (compute/cpu/layers/toom_cook.h), or, for the first layer, from a table of its products with each
 * base. */
enum { DIRECT, MINIMAL, LOOK_UP, FORMS };
static const char *const form_names[FORMS] = {"direct", "minimal", "look-up"};

/* A layer in the form that predictions use (and, if that is minimal, also in direct form), with
 * input and output. */
struct layer {
    struct cov_layer layer;
    enum cov_arithmetic operands;
    size_t n_seqs; /* that an LSTM computes together */
    struct cov_conv *fast[FORMS];
    struct cov_lstm *lstm; /* instead of fast[DIRECT] */
    uint8_t *codes;        /* input of LOOK_UP, instead of x */
    float *x, *y, *scratch;
};

/* A case: one form of a layer. */
struct form {
    struct layer *layer;
    size_t which;
};

static double thread_seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int init_forms(struct layer *b, const struct cov_layer_weights *w, bool first,
                      const struct cov_cpu_arithmetic *a, size_t *scratch, struct cov_err *e)
{
    const struct cov_layer *l = &b->layer;
    *scratch = 0;
    if (l->kind == COV_LAYER_LSTM) {
        int rc = cov_lstm_new(l, w, cov_cpu_lstm_gemm(a, l), cov_cpu_lstm_vec(a, l),
                              cov_cpu_lstm_rest(a), &b->lstm, e);
        *scratch = rc ? 0 : cov_lstm_scratch(b->lstm);
        return rc;
    }
    struct cov_cpu_kernels plain = {.vec = cov_vec_choose(a->features)};
    struct cov_cpu_kernels kernels = cov_cpu_conv_kernels(a, l, b->operands, &plain);
    int rc = cov_conv_new(l, w, &kernels, &b->fast[DIRECT], e);
    if (!rc && first && cov_conv_reads_codes(b->fast[DIRECT])) {
        b->fast[LOOK_UP] = b->fast[DIRECT];
        b->fast[DIRECT] = NULL;
    } else if (!rc && l->kind != COV_LAYER_LINEAR_EXP && cov_toom_cook_pays(l)) {
        plain.minimal = cov_toom_cook_choose(a->features);
        kernels = cov_cpu_conv_kernels(a, l, b->operands, &plain);
        if (kernels.minimal)
            rc = cov_conv_new(l, w, &kernels, &b->fast[MINIMAL], e);
    }
    for (size_t i = 0; !rc && i < FORMS; i++) {
        size_t need = b->fast[i] ? cov_conv_scratch(b->fast[i]) : 0;
        *scratch = need > *scratch ? need : *scratch;
    }
    return rc;
}

static int init_layer(struct layer *b, const struct cov_layer *l, const struct cov_layer_weights *w,
                      bool first, const struct cov_cpu_arithmetic *a, struct cov_err *e)
{
    size_t scratch;
    b->layer = *l;
    b->n_seqs = l->kind == COV_LAYER_LSTM ? cov_cpu_lstm_rows(a) : 1;
    int rc = init_forms(b, w, first, a, &scratch, e);
    if (rc)
        return rc;
    size_t n_x = b->n_seqs * l->t_in * l->c_in;
    b->x = cov_calloc64(n_x, sizeof *b->x, e);
    b->y = cov_calloc64(b->n_seqs * l->t_out * l->c_out, sizeof *b->y, e);
    b->scratch = cov_calloc64(scratch + 1, sizeof *b->scratch, e);
    b->codes = cov_calloc64(l->t_in, sizeof *b->codes, e);
    if (!b->x || !b->y || !b->scratch || !b->codes)
        return COV_ENOMEM;
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (size_t i = 0; i < n_x; i++)
        b->x[i] = (float)cov_rng_double(&rng) * 2 - 1;
    for (size_t i = 0; i < l->t_in; i++)
        b->codes[i] = (uint8_t)(COV_CODE_A << cov_rng_below(&rng, 4));
    return COV_OK;
}

static void fini_layer(struct layer *b)
{
    for (size_t i = 0; i < FORMS; i++)
        cov_conv_free(b->fast[i]);
    cov_lstm_free(b->lstm);
    free(b->codes);
    free(b->x);
    free(b->y);
    free(b->scratch);
}

static void run_once(struct layer *b, size_t which)
{
    const struct cov_layer *l = &b->layer;
    const struct cov_rows all = {0, l->t_out};
    struct cov_lstm_task tasks[COV_LSTM_ROWS];
    for (size_t i = 0; i < b->n_seqs; i++)
        tasks[i] = (struct cov_lstm_task){.rows = all};
    if (b->lstm)
        cov_lstm_run(b->lstm, &(struct cov_lstm_batch){b->n_seqs, tasks, true, NULL, b->x, b->y},
                     b->scratch);
    else if (which == LOOK_UP)
        cov_conv_rows_of_codes(b->fast[which], all, b->codes, b->y, l->c_out);
    else
        cov_conv_rows(b->fast[which], all, &(struct cov_layer_io){b->x, l->c_in, b->y, l->c_out},
                      b->scratch);
}

/* Sets *value to the milliseconds per sequence. */
static int run_form(void *arg, double seconds, double *value, struct cov_err *e)
{
    (void)e;
    struct form *f = arg;
    double start = thread_seconds(), spent;
    size_t n = 0;
    do {
        run_once(f->layer, f->which);
        n++;
        spent = thread_seconds() - start;
    } while (spent < seconds / 4);
    *value = spent * 1e3 / (double)(n * f->layer->n_seqs);
    return COV_OK;
}

/* Cases run on a thread of the pool, which flushes denormals as in predictions. */
struct job {
    struct bench *b;
    const struct bench_cases *cases;
};

static int measure(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)item;
    (void)worker;
    const struct job *j = arg;
    return bench_run(j->b, "measuring layers", j->cases, e);
}

/* Makes a name such as "03_conv_128_256". */
static void name_layer(const struct cov_layer *l, size_t i, char name[64])
{
    static const char *const kinds[] = {"conv", "transposed", "lstm", "linear_exp"};
    (void)snprintf(name, 64, "%02zu_%s_%zu_%zu", i + 1, kinds[l->kind], l->c_in, l->c_out);
}

static int report(struct bench *b, struct layer *layers, size_t n, struct cov_err *e)
{
    static const char *const probes[] = {[COV_FP32] = "fp32_gflops_core",
                                         [COV_BF16] = "bf16_gflops_core",
                                         [COV_BF16X3] = "bf16_gflops_core",
                                         [COV_INT16] = "bf16_gflops_core"};
    static const struct cov_chart like = {.kind = COV_CHART_BARS,
                                          .file = "model_layers",
                                          .title = "Time of each layer on one core",
                                          .x = "layer",
                                          .y = "milliseconds per chunk"};
    struct cov_chart *chart;
    int rc = cov_charts_add(&b->charts, &like, &chart, e);
    for (size_t i = 0; i < n && !rc; i++)
        for (size_t form = 0; form < FORMS && !rc; form++) {
            char layer[64];
            double peak = machine_probe_value(&b->machine, probes[layers[i].operands]);
            name_layer(&layers[i].layer, i, layer);
            const struct figure *f =
                figures_findf(&b->figures, "model/layer_ms/%s,form=%s", layer, form_names[form]);
            rc = chart_add_bar(chart, form_names[form], layer, f, 1, e);
            /* LOOK_UP does no multiplications. */
            if (f && form != LOOK_UP && peak > 0 && !rc)
                rc = figures_add_one(&b->figures, "of the limit", true,
                                     bench_layer_operations(&layers[i].layer) / f->median * 1e-6 /
                                         peak,
                                     e, "model/layer_share/%s,form=%s", layer, form_names[form]);
        }
    return rc;
}

static int run_layers(struct bench *b, struct layer *layers, size_t n, struct cov_err *e)
{
    struct bench_cases cases = {0};
    struct form *forms = cov_calloc(FORMS * n, sizeof *forms, e);
    struct cov_pool *pool = NULL;
    struct job job = {b, &cases};
    int rc = forms ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < n && !rc; i++)
        for (size_t form = 0; form < FORMS && !rc; form++) {
            char layer[64];
            if (!layers[i].fast[form] && (form != DIRECT || !layers[i].lstm))
                continue;
            name_layer(&layers[i].layer, i, layer);
            forms[cases.n] = (struct form){&layers[i], form};
            const struct bench_case c = {
                .name = cov_strfmt(e, "model/layer_ms/%s,form=%s", layer, form_names[form]),
                .unit = "ms",
                .run = run_form,
                .arg = &forms[cases.n]};
            rc = bench_cases_add(&cases, c, e);
        }
    if (!rc)
        rc = cov_pool_new(1, &pool, e);
    if (!rc)
        rc = cov_pool_for(pool, 1, measure, &job, e);
    cov_pool_free(pool);
    bench_cases_fini(&cases);
    free(forms);
    return rc ? rc : report(b, layers, n, e);
}

int bench_layers(struct bench *b, const struct bench_net *net, size_t L,
                 enum cov_precision precision, struct cov_err *e)
{
    struct cov_cpu_arithmetic a;
    struct cov_params params = {0};
    struct cov_layers shapes = {0};
    struct layer *layers = NULL;
    struct cov_cpu_choice cpu;
    int rc = cov_cpu_level_choose(NULL, &cpu, e);
    if (!rc)
        rc = cov_params_init(&net->hp, &params, e);
    if (!rc)
        cov_cpu_arithmetic_choose(precision, &cpu, false, &a);
    if (!rc)
        rc = cov_shape(&net->hp, L, &params, net->block, &shapes, e);
    if (!rc && !(layers = cov_calloc(shapes.n, sizeof *layers, e)))
        rc = COV_ENOMEM;
    for (size_t i = 0; i < shapes.n && !rc; i++) {
        const struct cov_layer *l = &shapes.layers[i];
        layers[i].operands = cov_cpu_arithmetic_of(&a, l, i + 2 == shapes.n);
        rc = init_layer(&layers[i], l, &shapes.weights[i], i == 0, &a, e);
    }
    if (!rc)
        rc = run_layers(b, layers, shapes.n, e);
    if (!rc)
        rc = bench_note(b, e, "Layers were measured on one core in %s.",
                        cov_precision_name(a.precision));
    for (size_t i = 0; layers && i < shapes.n; i++)
        fini_layer(&layers[i]);
    free(layers);
    cov_layers_fini(&shapes);
    cov_params_fini(&params);
    return rc;
}
