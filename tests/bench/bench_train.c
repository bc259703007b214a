/* bench_train - chunks a second of training the network of the published size, on random bases and
 * targets.
 *   bench_train [THREADS [BATCH [SECONDS [PRECISION [LEVELS]]]]]
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/pool.h"
#include "common/base/rng.h"
#include "common/net/train.h"

enum { LENGTH = 21384, OUTPUTS = 2 };

struct bench {
    struct cov_device *dev;
    struct cov_pool *pool;
    struct cov_trainer *trainer;
    struct cov_train_batch batch;
    uint8_t *codes;
    float *targets;
    bool *present;
};

/* A network of the published size with random weights, on `threads` workers. */
static int set_up(struct bench *b, const struct cov_cpu_options *cpu, unsigned threads,
                  struct cov_err *e)
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
                                   .output_size = OUTPUTS,
                                   .bnorm = true,
                                   .dropout = 0.3};
    struct cov_params params;
    int rc = cov_params_init(&hp, &params, e);
    if (rc)
        return rc;
    float *block = cov_malloc(params.n_floats, sizeof *block, e);
    rc = block ? cov_device_open_cpu(cpu, &b->dev, e) : COV_ENOMEM;
    if (rc == COV_OK)
        rc = cov_pool_new(threads, &b->pool, e);
    if (rc == COV_OK) {
        const struct cov_trainer_options options = {
            .hp = &hp, .L = LENGTH, .max_batch = b->batch.n, .pool = b->pool};
        cov_params_randomize(&hp, &params, 1, block);
        rc = cov_trainer_new(b->dev, &options, block, &b->trainer, e);
    }
    free(block);
    cov_params_fini(&params);
    return rc;
}

static int make_batch(struct bench *b, struct cov_err *e)
{
    size_t n = b->batch.n * LENGTH;
    struct cov_rng rng;
    b->codes = cov_malloc(n, 1, e);
    b->targets = cov_malloc(n * OUTPUTS, sizeof *b->targets, e);
    b->present = cov_malloc(b->batch.n * OUTPUTS, sizeof *b->present, e);
    if (!b->codes || !b->targets || !b->present)
        return COV_ENOMEM;
    cov_rng_init(&rng, 1);
    for (size_t i = 0; i < n; i++)
        b->codes[i] = (uint8_t)(1U << cov_rng_below(&rng, 4));
    for (size_t i = 0; i < n * OUTPUTS; i++)
        b->targets[i] = (float)cov_rng_below(&rng, 5);
    memset(b->present, 1, b->batch.n * OUTPUTS);
    b->batch.codes = b->codes;
    b->batch.targets = b->targets;
    b->batch.present = b->present;
    return COV_OK;
}

static int learn(struct bench *b, double *loss, struct cov_err *e)
{
    static const struct cov_adam adam = {0.001, 0.9, 0.999, 1e-8, 0, 0};
    struct cov_train_score score;
    int rc = cov_trainer_batch(b->trainer, &b->batch, &score, e);
    *loss = score.loss;
    return rc ? rc : cov_trainer_step(b->trainer, &adam, e);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { MAX_STEPS = 1000 };

/* One step to warm up, then steps for at least `least` seconds. */
static int measure(struct bench *b, unsigned threads, double least, struct cov_err *e)
{
    double loss, seconds[MAX_STEPS], all = 0;
    size_t n = 0, chunks = b->batch.n;
    int rc = learn(b, &loss, e);
    clock_t cpu = clock();
    while (!rc && (n == 0 || all < least) && n < MAX_STEPS) {
        double start = cov_clock();
        rc = learn(b, &loss, e);
        seconds[n] = cov_clock() - start;
        all += seconds[n++];
    }
    if (rc)
        return rc;
    double cpu_seconds = (double)(clock() - cpu) / CLOCKS_PER_SEC;
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    qsort(seconds, n, sizeof *seconds, by_value);
    (void)printf("%s, %u threads, batch %zu: %.2f chunks/s (best %.2f), %.2f a second of CPU time; "
                 "loss %.4f; peak %.2f GB\n",
                 b->dev->ops->describe(b->dev), threads, chunks, (double)chunks / seconds[n / 2],
                 (double)chunks / seconds[0], (double)(n * chunks) / cpu_seconds, loss,
                 (double)usage.ru_maxrss / 1e6);
    return COV_OK;
}

static int run(unsigned threads, size_t batch, double seconds, const struct cov_cpu_options *cpu,
               struct cov_err *e)
{
    struct bench b = {.batch = {.n = batch}};
    int rc = make_batch(&b, e);
    if (!rc)
        rc = set_up(&b, cpu, threads, e);
    if (!rc)
        rc = measure(&b, threads, seconds, e);
    cov_trainer_free(b.trainer);
    cov_pool_free(b.pool);
    cov_device_close(b.dev);
    free(b.codes);
    free(b.targets);
    free(b.present);
    return rc;
}

static int set_precision(const char *name, enum cov_precision *out)
{
    for (int i = COV_PRECISION_EXACT; i <= COV_PRECISION_BF16; i++)
        if (strcmp(name, cov_precision_name((enum cov_precision)i)) == 0) {
            *out = (enum cov_precision)i;
            return COV_OK;
        }
    return COV_EUSAGE;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_cpu_options cpu = {.levels = argc > 5 ? argv[5] : NULL};
    unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    size_t batch = argc > 2 ? strtoul(argv[2], NULL, 10) : 8;
    double seconds = argc > 3 ? strtod(argv[3], NULL) : 5;
    if (argc > 4 && set_precision(argv[4], &cpu.precision)) {
        (void)fprintf(stderr, "no such precision: %s\n", argv[4]);
        return 2;
    }
    if (run(threads > 0 ? threads : cov_pool_default_size(), batch, seconds, &cpu, &e)) {
        (void)fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    return 0;
}
