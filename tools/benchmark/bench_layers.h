/* bench_layers.h - the layers of a network one by one, on one core, each convolution as a direct product
 * and by minimal filtering in turn.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_LAYERS_H
#define COV_BENCHMARK_BENCH_LAYERS_H

#include "common/base/err.h"
#include "common/compute/device.h"
#include "tools/benchmark/bench.h"
#include "tools/benchmark/bench_model.h"

/* Multiplications and additions of a direct product, of one sequence. */
double cov_bench_layer_operations(const struct cov_layer *l);

/* Adds model/layer_ms/NN_kind_in_out,form=direct|minimal|look-up (milliseconds of CPU time a chunk, in single
 * precision) in the form that predictions have, and beside minimal also direct; model/layer_share/... of products
 * (of fp32_gflops_core), and a chart. */
int cov_bench_layers(struct cov_bench *b, const struct cov_bench_net *net, size_t L,
                     struct cov_err *e) COV_MUST_USE;

#endif
