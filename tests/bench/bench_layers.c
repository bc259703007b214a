/* bench_layers.c - time of each layer of the network on one core: milliseconds per chunk, and GFLOP/s
 * of direct convolutions and matrix products.
 *
 *     bench_layers [PRECISION [L]]
 *
 * PRECISION: exact (the default), fp32, bf16x3, balanced, bf16; L: positions (default: 21384). The
 * weights are random, in the published size. Processor time, the median of REPEATS rounds.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/base/rng.h"
#include "common/base/text.h"
#include "common/compute/cpu/kernels/level.h"
#include "common/compute/cpu/layers/conv.h"
#include "common/compute/cpu/layers/lstm.h"
#include "common/compute/cpu/layers/precision.h"
#include "common/net/shape.h"
#include "common/seq/alphabet.h"
#include "tools/benchmark/bench.h"

enum { REPEATS = 5 };
#define SECONDS 0.1 /* of a repeat */

/* How a layer is computed: by matrix products, as a convolution with fewer multiplications
 * (compute/cpu/kernels/toom_cook.h), or, for the first layer, from a table of its products with each
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

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median milliseconds per sequence. */
static double measure(struct layer *b, size_t which)
{
    double times[REPEATS];
    run_once(b, which);
    for (int i = 0; i < REPEATS; i++) {
        double start = cov_clock_thread(), spent;
        size_t n = 0;
        do {
            run_once(b, which);
            n++;
            spent = cov_clock_thread() - start;
        } while (spent < SECONDS);
        times[i] = spent * 1e3 / (double)(n * b->n_seqs);
    }
    qsort(times, REPEATS, sizeof *times, ascending);
    return times[REPEATS / 2];
}

struct network {
    const struct cov_layers *layers;
    struct cov_cpu_arithmetic arithmetic;
};

/* Runs on a thread of the pool, which flushes denormals as in predictions. */
static int measure_all(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    static const char *const kinds[] = {"conv", "transposed", "lstm", "linear_exp"};
    struct network *w = arg;
    int rc = COV_OK;
    (void)item;
    (void)worker;
    printf("layer\tform\tms\tgflops\n");
    for (size_t i = 0; i < w->layers->n && !rc; i++) {
        const struct cov_layer *l = &w->layers->layers[i];
        struct layer layer = {.operands =
                                  cov_cpu_arithmetic_of(&w->arithmetic, l, i + 2 == w->layers->n)};
        rc = init_layer(&layer, l, &w->layers->weights[i], i == 0, &w->arithmetic, e);
        for (size_t form = 0; form < FORMS && !rc; form++) {
            if (!layer.fast[form] && (form != DIRECT || !layer.lstm))
                continue;
            double ms = measure(&layer, form);
            printf("%02zu_%s_%zu_%zu\t%s\t%.3f\t%.1f\n", i + 1, kinds[l->kind], l->c_in, l->c_out,
                   form_names[form], ms, bench_layer_operations(l) / ms * 1e-6);
        }
        fini_layer(&layer);
    }
    return rc;
}

static int run(enum cov_precision precision, size_t L, struct cov_err *e)
{
    const struct cov_hparams *hp = &cov_hparams_published;
    struct cov_params params = {0};
    struct cov_layers layers = {0};
    struct network w = {.layers = &layers};
    struct cov_cpu_choice cpu;
    struct cov_pool *pool = NULL;
    float *block = NULL;
    int rc = cov_cpu_level_choose(NULL, &cpu, e);
    if (!rc)
        rc = cov_params_init(hp, &params, e);
    if (!rc && !(block = cov_calloc64(params.n_floats, sizeof *block, e)))
        rc = COV_ENOMEM;
    if (!rc) {
        cov_params_randomize(hp, &params, 1, block);
        cov_cpu_arithmetic_choose(precision, &cpu, false, &w.arithmetic);
        rc = cov_shape(hp, L, &params, block, &layers, e);
    }
    if (!rc)
        rc = cov_pool_new(1, &pool, e);
    if (!rc)
        rc = cov_pool_for(pool, 1, measure_all, &w, e);
    cov_pool_free(pool);
    cov_layers_fini(&layers);
    cov_params_fini(&params);
    free(block);
    return rc;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    enum cov_precision precision = COV_PRECISION_EXACT;
    int64_t L = 21384;
    while (argc > 1 && precision < COV_PRECISION_TF32 &&
           strcmp(argv[1], cov_precision_name(precision)) != 0)
        precision++;
    int rc = argc > 2 ? cov_parse_size(argv[2], "L", 1, 1 << 24, &L, &e) : COV_OK;
    if (argc > 3 || precision == COV_PRECISION_TF32) {
        (void)fprintf(stderr, "usage: bench_layers [exact|fp32|bf16x3|balanced|bf16 [L]]\n");
        return 2;
    }
    if (!rc)
        rc = run(precision, (size_t)L, &e);
    if (rc)
        (void)fprintf(stderr, "bench_layers: error: %s\n", e.text);
    return rc != 0;
}
