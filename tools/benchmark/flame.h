/* flame.h - where the time of a program goes, as a flame graph: what perf sampled, drawn as SVG.
 *
 * After Gregg, "The flame graph", 2016: a box a function, as wide as its part of the samples, on what
 * called it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_FLAME_H
#define COV_BENCHMARK_FLAME_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"

/* Reads the output of `perf script` in `text`[0..n) and writes the picture. COV_EINPUT when there is no
 * sample in it. */
int cov_flame_draw(const char *text, size_t n, const char *title, FILE *out,
                   struct cov_err *e) COV_MUST_USE;

#endif
