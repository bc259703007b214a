/* bench_advice.h - which settings are best on this machine, by what was measured.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_ADVICE_H
#define COV_BENCHMARK_BENCH_ADVICE_H

#include "common/base/err.h"
#include "tools/benchmark/bench.h"

/* Adds advice on batch, threads, precision, device, layout and loading, and on the stage that is worth
 * speeding up, each with the figures that it follows from; what was not measured has none. */
int cov_bench_advice(struct cov_bench *b, struct cov_err *e) COV_MUST_USE;

#endif
