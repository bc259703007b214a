/* bench_train.h - how fast the network is trained.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_TRAIN_H
#define COV_BENCHMARK_BENCH_TRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/compute/device.h"
#include "tools/benchmark/bench.h"
#include "tools/benchmark/bench_model.h"

struct cov_bench_train_options {
    const enum cov_precision *precisions;
    const int64_t *batches;
    size_t n_precisions, n_batches;
    size_t L;
};

/* Adds model/training_chunks_per_second/device=cpu,precision=P,batch=B,threads=T,length=L for each
 * precision and batch (of all threads together), and a chart: forward, backward and a step of Adam,
 * from PyTorch's initial weights, on random bases and targets. Before anything is timed, losses in
 * each precision must be those of the scalar reference: COV_EINPUT. */
int cov_bench_train(struct cov_bench *b, const struct cov_bench_net *net,
                    const struct cov_bench_train_options *options, struct cov_err *e) COV_MUST_USE;

#endif
