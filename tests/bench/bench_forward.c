/* bench_forward - chunks a second of the network of the published size, on random weights and bases.
 *   bench_forward [THREADS [BATCH [SECONDS [KERNELS]]]]
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/opt.h"
#include "common/base/pool.h"
#include "common/base/rng.h"
#include "common/base/stats.h"
#include "common/net/net.h"
#include "common/net/shape.h"

enum { LENGTH = 21384 };

struct bench {
    struct cov_net *net;
    size_t batch;
    const uint8_t *codes;
    float **values;
};

static int forward(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)item;
    struct bench *b = arg;
    return cov_net_forward(b->net, worker, b->batch, b->codes, b->values[worker], e);
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    int64_t arg[3] = {1, 16, 5};
    for (int i = 1; i < argc && i < 4; i++)
        if (cov_parse_i64(argv[i], "argument", 1, 4096, &arg[i - 1], &e))
            goto fail;
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
    struct cov_device *dev;
    struct cov_pool *pool;
    struct bench b = {.batch = (size_t)arg[1]};
    unsigned threads = (unsigned)arg[0];
    if (cov_params_init(&hp, &params, &e))
        goto fail;
    float *block = calloc(params.n_floats, sizeof *block);
    uint8_t *codes = calloc(b.batch, LENGTH);
    b.values = calloc(threads, sizeof *b.values);
    if (!block || !codes || !b.values)
        return 1;
    cov_params_randomize(&hp, &params, 1, block);
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (size_t i = 0; i < b.batch * LENGTH; i++)
        codes[i] = (uint8_t)(1U << cov_rng_below(&rng, 4));
    b.codes = codes;
    for (unsigned i = 0; i < threads; i++)
        if (!(b.values[i] = calloc(b.batch * LENGTH * 2, sizeof(float))))
            return 1;
    if (cov_device_open_cpu(argc > 4 ? argv[4] : NULL, &dev, &e) ||
        cov_net_new(dev, &hp, block, LENGTH, threads, b.batch, &b.net, &e) ||
        cov_pool_new(threads, &pool, &e))
        goto fail;
    printf("%s, %u threads, batch %zu\n", dev->ops->describe(dev), threads, b.batch);
    if (cov_pool_for(pool, threads, forward, &b, &e)) /* warm-up */
        goto fail;
    double start = cov_clock(), seconds = 0;
    size_t rounds = 0;
    while (seconds < (double)arg[2]) {
        if (cov_pool_for(pool, threads, forward, &b, &e))
            goto fail;
        rounds++;
        seconds = cov_clock() - start;
    }
    printf("%.2f chunks/s\n", (double)(rounds * threads * b.batch) / seconds);
    cov_pool_free(pool);
    cov_net_free(b.net);
    cov_device_close(dev);
    for (unsigned i = 0; i < threads; i++)
        free(b.values[i]);
    free(b.values);
    free(codes);
    free(block);
    cov_params_fini(&params);
    return 0;
fail:
    (void)fprintf(stderr, "bench_forward: %s\n", e.text);
    return 1;
}
