/* spread.h - what repeated measurements say: the median, what it may be, ratios, a line through points.
 *
 * Intervals are of 95 %, by the bootstrap (Efron, "Bootstrap methods: another look at the jackknife",
 * 1979), from a seed of its own: the same numbers give the same interval.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_SPREAD_H
#define COV_BENCHMARK_SPREAD_H

#include <stddef.h>

#include "common/base/err.h"

struct cov_spread {
    double at, low, high;
};

/* v[0..n) in ascending order. */
void cov_spread_sort(double *v, size_t n);
/* Of sorted v[0..n), n > 0: the median; of an even number, the mean of the two in the middle. */
double cov_spread_median(const double *v, size_t n);

/* The median of v[0..n), n > 0, and its interval. */
int cov_spread_of(const double *v, size_t n, struct cov_spread *out,
                  struct cov_err *e) COV_MUST_USE;
/* The median of b over that of a, and the interval of it; na, nb > 0. Of one value each the interval is
 * that one ratio. */
int cov_spread_ratio(const double *a, size_t na, const double *b, size_t nb, struct cov_spread *out,
                     struct cov_err *e) COV_MUST_USE;

/* y = slope x + offset by least squares, n > 1 points that are not all at one x. r2: the part of y's
 * variance that it explains (1 where y does not vary). */
struct cov_line {
    double slope, offset, r2;
};
struct cov_line cov_spread_line(const double *x, const double *y, size_t n);

#endif
