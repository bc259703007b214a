/* figure.h - what a benchmark measured: named figures, each with the values of its repeats.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_FIGURE_H
#define COV_BENCHMARK_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"

struct cov_figure {
    char *name; /* "model/chunks_per_second/precision=fp32,batch=16". Owned */
    char *unit; /* "chunks/s". Owned */
    bool higher_is_better;
    size_t n;                 /* > 0 */
    double *values;           /* [n] as they came. Owned */
    double median, low, high; /* low and high: the least and the greatest value */
};

/* All zero is an empty list. */
struct cov_figures {
    struct cov_figure *items;
    size_t n, cap;
};

void cov_figures_fini(struct cov_figures *f);

/* Adds values[0..n), which are copied; those that are not finite are left out, and a figure of which
 * none is left is not added. A figure of that name that is there gets them as more of its values. */
int cov_figures_add(struct cov_figures *f, const char *name, const char *unit,
                    bool higher_is_better, const double *values, size_t n,
                    struct cov_err *e) COV_MUST_USE;
int cov_figures_add_one(struct cov_figures *f, const char *name, const char *unit,
                        bool higher_is_better, double value, struct cov_err *e) COV_MUST_USE;

/* NULL: there is none. Borrowed until the next one is added. */
const struct cov_figure *cov_figures_find(const struct cov_figures *f, const char *name);

/* As the array "figures" of the open object. */
void cov_figures_print_json(const struct cov_figures *f, struct cov_json *j);
/* As a table, with a line of column names: name, unit, better, n, median, low, high. */
void cov_figures_print_tsv(const struct cov_figures *f, FILE *out);

/* Reads the array "figures" of a file. COV_EINPUT names what is missing or of a wrong
 * kind. Names may not stand twice. */
struct cov_json_value;
int cov_figures_read(const struct cov_json_value *file, struct cov_figures *f,
                     struct cov_err *e) COV_MUST_USE;

/* A number for people: four digits that count, with k, M, G. */
const char *cov_figure_text(double value, char text[32]);

#endif
