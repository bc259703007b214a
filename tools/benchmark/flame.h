/* flame.h - flame graphs of perf samples, as SVG.
 *
 * After Gregg, "The flame graph", 2016: each function is a box on top of its caller,
 * as wide as its share of the samples.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_FLAME_H
#define BENCHMARK_FLAME_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"

/* Draws text[0..n), the output of `perf script`. COV_EINPUT if it has no samples. */
int flame_draw(const char *text, size_t n, const char *title, FILE *out,
               struct cov_err *e) COV_MUST_USE;

#endif
