/* figure.h - named figures with the values of their repeats, and their statistics.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_FIGURE_H
#define BENCHMARK_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"

struct figure {
    char *name; /* "model/chunks_per_second/precision=fp32,batch=16". Owned */
    char *unit; /* "chunks/s". Owned */
    bool higher_is_better;
    size_t n;                 /* > 0 */
    double *values;           /* [n] in order of measurement. Owned */
    double median, low, high; /* low and high: the smallest and the largest value */
};

/* All zero is an empty list. */
struct figures {
    struct figure *items;
    size_t n, cap;
};

void figures_fini(struct figures *f);

/* Copies the finite values of values[0..n). Appends them to the figure of that name if there is
 * one; the name tells the unit of a new one. Does nothing if no value is finite. */
int figures_add(struct figures *f, const char *name, const double *values, size_t n,
                struct cov_err *e) COV_MUST_USE;
/* Adds a single value. The name is made of fmt, in less than 256 bytes. */
int figures_add_one(struct figures *f, double value, struct cov_err *e, const char *fmt, ...)
    COV_PRINTF(4, 5) COV_MUST_USE;

/* Returns the named figure, or NULL. Borrowed until the next figure is added. */
struct figure *figures_find(const struct figures *f, const char *name);
/* The same with a name made of fmt, in less than 256 bytes. */
const struct figure *figures_findf(const struct figures *f, const char *fmt, ...) COV_PRINTF(2, 3);

/* Writes the array "figures" of the open object. */
void figures_print_json(const struct figures *f, struct cov_json *j);
/* Writes a table with the header name, unit, better, n, median, low, high. */
void figures_print_tsv(const struct figures *f, FILE *out);

/* Reads the array "figures" of a file. COV_EINPUT if it is missing or malformed, or a name is not
 * unique. */
int figures_read(const struct cov_json_value *file, struct figures *f,
                 struct cov_err *e) COV_MUST_USE;

/* A number for people: four significant digits, with k, M, G. Returns text. */
const char *figure_text(double value, char text[32]);

/* ---- statistics ---- */

/* A ratio of medians and its 95 % interval, by the bootstrap (Efron, "Bootstrap methods: another look at the
 * jackknife", 1979). The seed is fixed: the same values give the same interval. */
struct spread {
    double at, low, high;
};

/* Returns the median of v[0..n), which is sorted; n > 0. */
double spread_median(const double *v, size_t n);
/* Divides the median of `b` by the median of `a`; na, nb > 0. With one value each, the interval has
 * no width. */
int spread_ratio(const double *a, size_t na, const double *b, size_t nb, struct spread *out,
                 struct cov_err *e) COV_MUST_USE;

/* A line fitted by least squares to n > 1 points with at least two different x. r2 is the share of y's
 * variance that the line explains (1 if y is constant). */
struct line {
    double slope, r2;
};
struct line spread_line(const double *x, const double *y, size_t n);

#endif
