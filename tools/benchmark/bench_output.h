/* bench_output.h - outputs of a benchmark: benchmark.json, benchmark.tsv, benchmark_mqc.json for
 * MultiQC, charts as SVG and PNG, and report.html with everything.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_BENCH_OUTPUT_H
#define BENCHMARK_BENCH_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "tools/benchmark/bench.h"

/* Called before measuring: creates the folder if it is missing, and fails if one of the outputs of
 * b->parts exists without b->force (COV_EEXIST), or cannot be written. */
int bench_output_begin(struct bench *b, struct cov_err *e) COV_MUST_USE;

/* Writes all files; they appear together. Without gnuplot, warns and omits the charts. Adds the
 * figures to `stats`, for --stats and MultiQC. */
int bench_output_write(const struct bench *b, struct cov_stats *stats,
                       struct cov_err *e) COV_MUST_USE;

struct bench_picture {
    const char *name; /* of the file; its first word names the section that shows the picture */
    const char *title;
    char *text; /* the SVG file. Owned */
};

/* Writes the report as one self-contained page, which is also well-formed XML. Ids in the pictures
 * are made unique. */
void bench_print_html(const struct bench *b, const struct bench_picture *pictures, size_t n,
                      FILE *f);

#endif
