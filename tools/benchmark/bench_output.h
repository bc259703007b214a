/* bench_output.h - what a benchmark leaves in its folder: benchmark.json, benchmark.tsv,
 * benchmark_mqc.json for MultiQC, the charts as SVG and PNG, and report.html with all of it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_OUTPUT_H
#define COV_BENCHMARK_BENCH_OUTPUT_H

#include "common/base/err.h"
#include "tools/benchmark/bench.h"

/* Before anything is measured: makes the folder if it is missing, and fails if
 * one of the files that b->parts may leave is there and may not be replaced (COV_EEXIST), or cannot be. */
int cov_bench_output_begin(struct cov_bench *b, struct cov_err *e) COV_MUST_USE;

/* Writes all files; they appear together. Without gnuplot there are no charts, with a warning. `stats`
 * gets the figures, for --stats and for MultiQC. */
int cov_bench_output_write(const struct cov_bench *b, struct cov_stats *stats,
                           struct cov_err *e) COV_MUST_USE;

#endif
