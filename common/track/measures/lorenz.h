/* lorenz.h - how unevenly signal is spread over bins.
 *
 * The curve L of n values is the share of their sum that the lowest of them have: L(i / n) is the
 * sum of the i lowest values divided by the sum of all, linear in between. It is the "fingerprint"
 * of deepTools, whose plotFingerprint defines the metrics; the comparison with a control is that
 * of CHANCE (Diaz et al., Genome Biology 2012, 13:R98).
 *
 * All values must be finite and not negative, and their sum greater than 0.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_LORENZ_H
#define COV_TRACK_MEASURES_LORENZ_H

#include <stddef.h>

#include "common/base/err.h"

/* Shares of the bins, except for `area`. */
struct cov_lorenz_shape {
    double area;      /* sum of L(i / n) / n, i from 1 to n; about 0.5 if all values are equal */
    double intercept; /* the first i / n with L > 0 */
    double elbow;     /* the i / n, i from 1, where (i - 1) / (n - 1) - L(i / n) is largest */
};

/* All zeros if the values never rise faster than the control. */
struct cov_lorenz_gain {
    double enriched;   /* share of the bins above the point of the largest difference */
    double difference; /* there: share of the control's sum, minus share of the values' sum */
    double divergence; /* Jensen-Shannon distance of these two shares, base 2 */
};

/* Sorts x[n] and replaces each value by the curve: x[i] becomes L((i + 1) / n). */
void cov_lorenz_make(double *x, size_t n);

/* L at u, 0 to 1. */
double cov_lorenz_at(const double *curve, size_t n, double u);

void cov_lorenz_measure(const double *curve, size_t n, struct cov_lorenz_shape *out);

/* Jensen-Shannon distance (base 2) of the signal of two tracks along their ranks: of how the curves
 * of their values above 0 grow in 100,000 steps. 0: same shape; at most 1. */
double cov_lorenz_distance(const double *curve_a, const double *curve_b, size_t n);

/* Sorts the bins by x, and finds where the sum of control[] is most ahead of that of x[], which
 * are values, not curves. Equal values of x count together. */
int cov_lorenz_gain(const double *x, const double *control, size_t n, struct cov_lorenz_gain *out,
                    struct cov_err *e) COV_MUST_USE;

#endif
