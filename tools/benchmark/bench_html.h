/* bench_html.h - a benchmark as one page of HTML that needs no other file.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_HTML_H
#define COV_BENCHMARK_BENCH_HTML_H

#include <stddef.h>
#include <stdio.h>

#include "tools/benchmark/bench.h"

/* A picture for the page. */
struct cov_bench_svg {
    const char *name; /* that of its file; a section shows those that begin with its name */
    const char *title;
    const char *text; /* the SVG file */
};

/* Writes the page: well-formed as XML too. Pictures become a part of it, their ids made different. */
void cov_bench_html_print(const struct cov_bench *b, const struct cov_bench_svg *pictures, size_t n,
                          FILE *f);

#endif
