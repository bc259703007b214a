/* lorenz.c - see lorenz.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/lorenz.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/sort.h"

enum { STEPS = 100000 /* of cov_lorenz_distance */ };

/* A smaller difference is that of rounding. */
static const double LEAST = 1e-6;

void cov_lorenz_make(double *x, size_t n)
{
    double sum = 0;
    cov_sort_doubles(x, n);
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        x[i] = sum;
    }
    for (size_t i = 0; i < n; i++)
        x[i] /= sum;
}

double cov_lorenz_at(const double *curve, size_t n, double u)
{
    const double at = u * (double)n;
    const size_t i = (size_t)at;
    if (i >= n)
        return 1;
    const double left = i > 0 ? curve[i - 1] : 0;
    return left + (at - (double)i) * (curve[i] - left);
}

/* Returns the number of values that are 0. */
static size_t count_zeros(const double *curve, size_t n)
{
    size_t i = 0;
    while (i < n && curve[i] <= 0)
        i++;
    return i;
}

void cov_lorenz_measure(const double *curve, size_t n, struct cov_lorenz_shape *out)
{
    const double bins = (double)n, last = n > 1 ? bins - 1 : 1;
    double largest = -2;
    *out = (struct cov_lorenz_shape){.intercept = (double)(count_zeros(curve, n) + 1) / bins};
    for (size_t i = 0; i < n; i++) {
        const double ahead = (double)i / last - curve[i];
        out->area += curve[i] / bins;
        if (ahead > largest) {
            largest = ahead;
            out->elbow = (double)(i + 1) / bins;
        }
    }
}

/* A term of the relative entropy of p to the mean of p and q. */
static double term(double p, double q)
{
    return p > 0 ? p * log2(2 * p / (p + q)) : 0;
}

double cov_lorenz_distance(const double *curve_a, const double *curve_b, size_t n)
{
    const size_t zeros_a = count_zeros(curve_a, n), zeros_b = count_zeros(curve_b, n);
    double divergence = 0, last_a = 0, last_b = 0;
    for (int i = 1; i <= STEPS; i++) {
        const double u = (double)i / STEPS;
        const double a = cov_lorenz_at(curve_a + zeros_a, n - zeros_a, u);
        const double b = cov_lorenz_at(curve_b + zeros_b, n - zeros_b, u);
        divergence += term(a - last_a, b - last_b) + term(b - last_b, a - last_a);
        last_a = a;
        last_b = b;
    }
    return sqrt(fmax(0, divergence / 2));
}

struct pair {
    double x, control;
};

static int by_x(const void *a, const void *b)
{
    return cov_by_value(&((const struct pair *)a)->x, &((const struct pair *)b)->x);
}

int cov_lorenz_gain(const double *x, const double *control, size_t n, struct cov_lorenz_gain *out,
                    struct cov_err *e)
{
    struct pair *pairs = cov_malloc(n, sizeof *pairs, e);
    struct pair sum = {0}, total = {0}, best = {0};
    double largest = LEAST;
    *out = (struct cov_lorenz_gain){0};
    if (!pairs)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        pairs[i] = (struct pair){x[i], control[i]};
        total.x += x[i];
        total.control += control[i];
    }
    qsort(pairs, n, sizeof *pairs, by_x);
    for (size_t i = 0; i < n; i++) {
        sum.x += pairs[i].x;
        sum.control += pairs[i].control;
        const double difference = sum.control / total.control - sum.x / total.x;
        if ((i + 1 < n && pairs[i + 1].x <= pairs[i].x) || difference <= largest)
            continue;
        largest = difference;
        best = (struct pair){fmin(1, sum.x / total.x), fmin(1, sum.control / total.control)};
        out->enriched = (double)(n - i) / (double)n;
        out->difference = difference;
    }
    free(pairs);
    out->divergence =
        sqrt(fmax(0, (term(best.x, best.control) + term(1 - best.x, 1 - best.control) +
                      term(best.control, best.x) + term(1 - best.control, 1 - best.x)) /
                         2));
    return COV_OK;
}
