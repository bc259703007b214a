/* bench_layers - the layers of the published network size one by one, each convolution as a direct
 * product and by minimal filtering in turn: milliseconds of CPU time (median of the rounds) for one
 * sequence, giga-operations a second of the direct product, and their share of what a core can do:
 * multiply-adds in registers alone, in the same rounds, the median of them. With THREADS, all do the
 * same at the same time, and the first one is shown.
 *   bench_layers [ROUNDS [LSTM_SEQUENCES [LENGTH [THREADS]]]]
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/pool.h"
#include "common/base/rng.h"
#include "common/compute/cpu/fast.h"
#include "common/compute/cpu/lstm.h"
#include "common/net/shape.h"

enum { MAX_ROUNDS = 1000, FORMS = 2, PEAK_STEPS = 400000, PEAK_SUMS = 12 };

static const char *const form_names[FORMS] = {"direct", "minimal"};

/* A layer in every form that there is of it, its input and output. */
struct bench {
    struct cov_layer layer;
    size_t n_seqs; /* side by side: of an LSTM */
    struct cov_fast_layer *fast[FORMS];
    struct cov_lstm *lstm; /* or this, as the first form */
    float *x, *y, *scratch;
    double ms[FORMS][MAX_ROUNDS]; /* a sequence */
};

static double thread_seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Giga-operations a second of multiply-adds of registers; 0 where that is not known. */
static double measure_peak(void)
{
    double lanes = 0, start = thread_seconds();
#ifdef __x86_64__
#define FMA(r, i) "vfmadd231ps %%" r "15, %%" r "15, %%" r #i "\n\t"
#define FMAS(r)                                                                                    \
    FMA(r, 0)                                                                                      \
    FMA(r, 1)                                                                                      \
    FMA(r, 2)                                                                                      \
    FMA(r, 3) FMA(r, 4) FMA(r, 5) FMA(r, 6) FMA(r, 7) FMA(r, 8) FMA(r, 9) FMA(r, 10) FMA(r, 11)
    unsigned has = cov_cpu_features();
    long steps = PEAK_STEPS;
    if (has & COV_CPU_AVX512F) {
        lanes = 16;
        __asm__ volatile("vpxorq %%zmm15, %%zmm15, %%zmm15\n1:\t" FMAS("zmm") "dec %0\n\tjnz 1b\n\t"
                                                                              "vzeroupper"
                         : "+r"(steps)::"cc", "memory");
    } else if (has & COV_CPU_FMA) {
        lanes = 8;
        __asm__ volatile("vxorps %%ymm15, %%ymm15, %%ymm15\n1:\t" FMAS("ymm") "dec %0\n\tjnz 1b\n\t"
                                                                              "vzeroupper"
                         : "+r"(steps)::"cc", "memory");
    }
#endif
    return lanes * 2 * PEAK_SUMS * PEAK_STEPS / (thread_seconds() - start) * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Multiplications and additions of a direct product, of one sequence. */
static double operations(const struct cov_layer *l)
{
    double t_in = (double)l->t_in, t_out = (double)l->t_out;
    double in = (double)l->c_in, out = (double)l->c_out, hidden = (double)l->hidden;
    switch (l->kind) {
    case COV_LAYER_CONV:
        return 2 * t_out * in * out * (double)l->kernel;
    case COV_LAYER_CONV_TRANSPOSED:
        return 2 * t_in * in * out * (double)l->kernel;
    case COV_LAYER_LSTM:
        return 2 * t_in * 4 * hidden * (in + hidden) * (double)l->directions;
    default:
        return 2 * t_out * in * out;
    }
}

static bool has_form(const struct bench *b, size_t form)
{
    return b->fast[form] || (form == 0 && b->lstm);
}

static int bench_init(struct bench *b, const struct cov_layer *l, const struct cov_layer_weights *w,
                      size_t n_lstm, struct cov_err *e)
{
    unsigned features = cov_cpu_features();
    bool convolution = l->kind == COV_LAYER_CONV || l->kind == COV_LAYER_CONV_TRANSPOSED;
    b->layer = *l;
    b->n_seqs = l->kind == COV_LAYER_LSTM ? n_lstm : 1;
    size_t n_x = b->n_seqs * l->t_in * l->c_in, scratch = 0;
    if (l->kind == COV_LAYER_LSTM) {
        int rc =
            cov_lstm_new(l, w, cov_gemm_choose(features), cov_vec_choose(features), &b->lstm, e);
        if (rc)
            return rc;
        scratch = cov_lstm_scratch(b->lstm);
    }
    for (size_t i = 0; !b->lstm && i < (convolution ? FORMS : 1); i++) {
        const struct cov_cpu_kernels kernels = {.gemm = cov_gemm_choose(features),
                                                .vec = cov_vec_choose(features),
                                                .minimal = i ? cov_minimal_choose(features) : NULL};
        int rc = cov_fast_layer_new(l, w, &kernels, &b->fast[i], e);
        if (rc)
            return rc;
        size_t need = cov_fast_layer_scratch(b->fast[i]);
        scratch = need > scratch ? need : scratch;
    }
    b->x = cov_calloc64(n_x, sizeof *b->x, e);
    b->y = cov_calloc64(b->n_seqs * l->t_out * l->c_out, sizeof *b->y, e);
    b->scratch = cov_calloc64(scratch, sizeof *b->scratch, e);
    if (!b->x || !b->y || !b->scratch)
        return COV_ENOMEM;
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (size_t i = 0; i < n_x; i++)
        b->x[i] = (float)cov_rng_double(&rng) * 2 - 1;
    return COV_OK;
}

static void bench_fini(struct bench *b)
{
    for (size_t i = 0; i < FORMS; i++)
        cov_fast_layer_free(b->fast[i]);
    cov_lstm_free(b->lstm);
    free(b->x);
    free(b->y);
    free(b->scratch);
}

static double run(struct bench *b, const struct cov_fast_layer *f)
{
    const struct cov_layer *l = &b->layer;
    const struct cov_rows all = {0, l->t_out};
    struct cov_lstm_task tasks[COV_LSTM_ROWS];
    for (size_t i = 0; i < b->n_seqs; i++)
        tasks[i] = (struct cov_lstm_task){.rows = all};
    double start = thread_seconds();
    if (b->lstm)
        cov_lstm_run(b->lstm, b->n_seqs, tasks, false, b->x, b->y, b->scratch);
    else
        cov_fast_rows(f, all, b->x, l->c_in, b->y, l->c_out, b->scratch);
    return (thread_seconds() - start) * 1e3 / (double)b->n_seqs;
}

/* What each thread does. */
struct job {
    const struct cov_layer *layers;
    const struct cov_layer_weights *weights;
    size_t n_layers, rounds, n_lstm;
    struct bench *benches; /* [threads, n_layers] */
    double peak[MAX_ROUNDS];
};

/* One line of the table; adds to the sum of each form. */
static void report(struct bench *b, size_t rounds, double peak, double sums[FORMS])
{
    static const char *const kinds[] = {"convolution", "transposed", "LSTM", "linear, exp"};
    const struct cov_layer *l = &b->layer;
    double ms[FORMS] = {0}, work = operations(l);
    (void)printf("%-12s %4zu -> %4zu", kinds[l->kind], l->c_in, l->c_out);
    for (size_t i = 0; i < FORMS; i++) {
        if (has_form(b, i)) {
            qsort(b->ms[i], rounds, sizeof(double), by_value);
            ms[i] = b->ms[i][rounds / 2];
            double rate = work / ms[i] * 1e-6;
            (void)printf("  %8.3f %8.3f %7.1f %4.0f%%", ms[i], b->ms[i][0], rate,
                         peak > 0 ? 100 * rate / peak : 0);
        } else {
            ms[i] = ms[0];
        }
        sums[i] += ms[i];
    }
    if (b->fast[1])
        (void)printf("  %5.2f", ms[0] / ms[1]);
    (void)printf("\n");
}

static int measure_thread(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct job *job = arg;
    struct bench *all = job->benches + item * job->n_layers;
    int rc = COV_OK;
    for (size_t i = 0; rc == COV_OK && i < job->n_layers; i++)
        rc = bench_init(&all[i], &job->layers[i], &job->weights[i], job->n_lstm, e);
    /* The first round warms up. */
    for (size_t round = 0; rc == COV_OK && round <= job->rounds; round++) {
        size_t at = round ? round - 1 : 0;
        double peak = measure_peak();
        if (item == 0)
            job->peak[at] = peak;
        for (size_t i = 0; i < job->n_layers; i++)
            for (size_t form = 0; form < FORMS; form++)
                if (has_form(&all[i], form))
                    all[i].ms[form][at] = run(&all[i], all[i].fast[form]);
    }
    return rc;
}

static int measure(struct job *job, unsigned threads, struct cov_err *e)
{
    struct cov_pool *pool = NULL;
    job->benches = cov_calloc(threads * job->n_layers, sizeof *job->benches, e);
    int rc = job->benches ? cov_pool_new(threads, &pool, e) : COV_ENOMEM;
    if (rc == COV_OK)
        rc = cov_pool_for(pool, threads, measure_thread, job, e);
    if (rc == COV_OK) {
        double sums[FORMS] = {0};
        qsort(job->peak, job->rounds, sizeof(double), by_value);
        double peak = job->peak[job->rounds / 2];
        (void)printf("%u threads, %.0f GFLOP/s a core\n%-25s", threads, peak, "");
        for (size_t form = 0; form < FORMS; form++)
            (void)printf("  %8s %8s %7s %5s", form_names[form], "best", "GFLOP/s", "share");
        (void)printf("  times\n");
        for (size_t i = 0; i < job->n_layers; i++)
            report(&job->benches[i], job->rounds, peak, sums);
        (void)printf("%-25s  %8.3f %22s  %8.3f %22s  %5.2f\n", "all, ms a sequence", sums[0], "",
                     sums[1], "", sums[0] / sums[1]);
    }
    for (size_t i = 0; job->benches && i < threads * job->n_layers; i++)
        bench_fini(&job->benches[i]);
    free(job->benches);
    cov_pool_free(pool);
    return rc;
}

int main(int argc, char **argv)
{
    const struct cov_hparams hp = {.model_type = COV_MODEL_BI_HYBRID,
                                   .cnn_layers = 3,
                                   .filter_size = 64,
                                   .kernel_size = 9,
                                   .step = 2,
                                   .up = 2,
                                   .dilation = 1,
                                   .lstm_layers = 2,
                                   .hidden_size = 128,
                                   .input_size = 4,
                                   .output_size = 2,
                                   .bnorm = true};
    struct cov_err e = COV_ERR_INIT;
    int64_t arg[4] = {9, 8, 21384, 1};
    static const int64_t most[4] = {MAX_ROUNDS, (int64_t)COV_LSTM_ROWS, 1 << 24, 256};
    int rc = COV_OK;
    for (int i = 1; i < argc && i < 5 && !rc; i++)
        rc = cov_parse_i64(argv[i], "argument", 1, most[i - 1], &arg[i - 1], &e);
    struct cov_params params = {0};
    struct cov_layer *layers = NULL;
    struct cov_layer_weights *weights = NULL;
    size_t n_layers = 0;
    float *block = NULL;
    if (!rc)
        rc = cov_params_init(&hp, &params, &e);
    if (!rc && !(block = cov_malloc(params.n_floats, sizeof *block, &e)))
        rc = COV_ENOMEM;
    if (!rc) {
        cov_params_randomize(&hp, &params, 1, block);
        rc = cov_shape(&hp, (size_t)arg[2], &params, block, &layers, &weights, &n_layers, &e);
    }
    static struct job job;
    job = (struct job){layers, weights, n_layers, (size_t)arg[0], (size_t)arg[1], NULL, {0}};
    if (!rc)
        rc = measure(&job, (unsigned)arg[3], &e);
    if (rc)
        (void)fprintf(stderr, "bench_layers: %s\n", e.text);
    free(weights);
    free(layers);
    free(block);
    cov_params_fini(&params);
    return rc != COV_OK;
}
