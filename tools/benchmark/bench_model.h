/* bench_model.h - how fast the network is: over batch, precision, threads and length; layer by layer; and
 * how far each precision is from fp32.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_MODEL_H
#define COV_BENCHMARK_BENCH_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/net/hparams.h"
#include "tools/benchmark/bench.h"

/* A network without a file. */
struct cov_bench_net {
    struct cov_hparams hp;
    float *block; /* parameters, as in shape.h. Owned */
    char *label;  /* Owned */
};

/* `path`: a checkpoint, or the word "combined": random weights in the size of the published models. */
int cov_bench_net_open(const char *path, uint64_t seed, struct cov_bench_net *out,
                       struct cov_err *e) COV_MUST_USE;
void cov_bench_net_close(struct cov_bench_net *n);

/* Multiplications and additions, direct ones, of a chunk of L positions. */
int cov_bench_net_operations(const struct cov_bench_net *n, size_t L, double *operations,
                             struct cov_err *e) COV_MUST_USE;

struct cov_bench_model_options {
    const int64_t *batches, *threads, *lengths;
    size_t n_batches, n_threads, n_lengths; /* at least one of each */
    const char *const *precisions, *const *devices;
    size_t n_precisions, n_devices;
    bool layers;             /* layer by layer too */
    const int64_t *training; /* batches (bench_train.h), in fp32 (exact, too) and bf16 */
    size_t n_training;       /* 0: none */
};

/* COV_EUSAGE for a precision or device that there is not, or training in none that training has. */
int cov_bench_model_check(const struct cov_bench_model_options *options,
                          struct cov_err *e) COV_MUST_USE;

/* Adds model/chunks_per_second/device=D,precision=P,batch=B,threads=T,length=L of all devices, precisions
 * and batches on the first number of threads at the first length, and of the other threads and lengths with
 * the first precision and batch; model/limit_share/precision=P (of the matrix products that the machine was
 * measured to do); model/max_relative_error/precision=P and so on; model/layer_ms/...; and charts of these.
 * COV_EINPUT when the network's values are wrong. */
int cov_bench_model(struct cov_bench *b, const struct cov_bench_net *net,
                    const struct cov_bench_model_options *options, struct cov_err *e) COV_MUST_USE;

#endif
