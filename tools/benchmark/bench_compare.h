/* bench_compare.h - whether something has become slower: two files of figures, or two commands that are
 * run in turn.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_COMPARE_H
#define COV_BENCHMARK_BENCH_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/progress.h"

struct cov_bench_compare_options {
    double max_slowdown; /* 0.1: worse by more than a tenth is a failure */
    double
        probe_tolerance; /* that the probes of the machine may differ by, as a part of the lesser */
    size_t blocks;       /* of commands: A B B A, at least so often */
    bool cpu_clock;      /* of commands: CPU time, else what passes */
    const char *tmpdir;
    struct cov_progress *progress; /* may be NULL */
};

/* Prints a table to `out`: name, unit, the medians of both, the ratio (above 1: NEW is worse by so
 * much), the bounds of its 95 % interval, a word. COV_EINPUT when a figure is worse by more than
 * max_slowdown and its interval is above 1, or when there is nothing to compare; COV_EUNLIKE, with
 * nothing printed, when the probes of the machines differ by more than their tolerance (those of disks:
 * by more than three times). */
int cov_bench_compare(const char *base, const char *new_one,
                      const struct cov_bench_compare_options *options, FILE *out,
                      struct cov_err *e) COV_MUST_USE;

/* Runs both by the shell, once each, then in blocks A B B A, of which each gives the ratio of the faster
 * B to the faster A; prints the table with the median of the ratios. There are up to five times as many
 * blocks as were asked for while the interval holds 1 + max_slowdown, and twice as many at least to say
 * that B is slower. Fails as above. */
int cov_bench_compare_paired(const char *a, const char *b,
                             const struct cov_bench_compare_options *options, FILE *out,
                             struct cov_err *e) COV_MUST_USE;

#endif
