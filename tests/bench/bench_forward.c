/* bench_forward - chunks a second of the network of the published size, on random weights and
 * bases.
 *   bench_forward [THREADS [BATCH [SECONDS [PRECISION [LEVELS]]]]]
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/pool.h"
#include "common/base/rng.h"
#include "common/base/stats.h"
#include "common/net/net.h"
#include "common/net/shape.h"

enum { LENGTH = 21384 };

struct bench {
    struct cov_device *dev;
    struct cov_net *net;
    struct cov_pool *pool;
    size_t batch, n_values; /* n_values of a worker */
    uint8_t *codes;
    float *values;
};

static int forward(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)item;
    struct bench *b = arg;
    return cov_net_forward(b->net, worker, b->batch, b->codes, b->values + worker * b->n_values, e);
}

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
                                   .output_size = 2,
                                   .bnorm = true};
    struct cov_params params;
    int rc = cov_params_init(&hp, &params, e);
    if (rc)
        return rc;
    float *block = cov_malloc(params.n_floats, sizeof *block, e);
    rc = block ? COV_OK : COV_ENOMEM;
    if (rc)
        goto out;
    cov_params_randomize(&hp, &params, 1, block);
    rc = cov_device_open_cpu(cpu, &b->dev, e);
    if (rc)
        goto out;
    rc = cov_net_new(b->dev, &hp, block, LENGTH, threads, b->batch, &b->net, e);
    if (rc)
        goto out;
    rc = cov_pool_new(threads, &b->pool, e);
out:
    free(block);
    cov_params_fini(&params);
    return rc;
}

static int make_chunks(struct bench *b, unsigned threads, struct cov_err *e)
{
    size_t n = b->batch * LENGTH;
    b->n_values = n * 2;
    b->codes = cov_malloc(n, 1, e);
    b->values = cov_malloc(threads * b->n_values, sizeof *b->values, e);
    if (!b->codes || !b->values)
        return COV_ENOMEM;
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (size_t i = 0; i < n; i++)
        b->codes[i] = (uint8_t)(1U << cov_rng_below(&rng, 4));
    return COV_OK;
}

/* One round to warm up, then rounds for at least `least` seconds. */
static int measure(struct bench *b, unsigned threads, double least, struct cov_err *e)
{
    int rc = cov_pool_for(b->pool, threads, forward, b, e);
    double start = cov_clock(), seconds = 0;
    clock_t cpu = clock();
    size_t rounds = 0;
    while (!rc && seconds < least) {
        rc = cov_pool_for(b->pool, threads, forward, b, e);
        rounds++;
        seconds = cov_clock() - start;
    }
    if (rc)
        return rc;
    double chunks = (double)(rounds * threads * b->batch);
    (void)printf("%s, %u threads, batch %zu: %.2f chunks/s, %.2f a second of CPU time\n",
                 b->dev->ops->describe(b->dev), threads, b->batch, chunks / seconds,
                 chunks * CLOCKS_PER_SEC / (double)(clock() - cpu));
    return COV_OK;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    int64_t arg[3] = {1, 16, 5};
    int rc = COV_OK;
    for (int i = 1; i < argc && i < 4 && !rc; i++)
        rc = cov_parse_i64(argv[i], "argument", 1, 4096, &arg[i - 1], &e);
    struct bench b = {.batch = (size_t)arg[1]};
    unsigned threads = (unsigned)arg[0];
    struct cov_cpu_options cpu = {.levels = argc > 5 ? argv[5] : NULL};
    for (enum cov_precision p = COV_PRECISION_EXACT; argc > 4 && p <= COV_PRECISION_BF16; p++)
        if (strcmp(argv[4], cov_precision_name(p)) == 0)
            cpu.precision = p;
    if (!rc)
        rc = set_up(&b, &cpu, threads, &e);
    if (!rc)
        rc = make_chunks(&b, threads, &e);
    if (!rc)
        rc = measure(&b, threads, (double)arg[2], &e);
    if (rc)
        (void)fprintf(stderr, "bench_forward: %s\n", e.text);
    free(b.values);
    free(b.codes);
    cov_pool_free(b.pool);
    cov_net_free(b.net);
    cov_device_close(b.dev);
    return rc != COV_OK;
}
