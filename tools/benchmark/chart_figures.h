/* chart_figures.h - adds figures to charts.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_CHART_FIGURES_H
#define BENCHMARK_CHART_FIGURES_H

#include "common/base/err.h"
#include "common/job/chart.h"
#include "tools/benchmark/figure.h"

/* Adds a figure times `factor`; does nothing if f is NULL. */
int chart_add_figure(struct cov_chart *c, const char *series, double x, const struct figure *f,
                     double factor, struct cov_err *e) COV_MUST_USE;
/* The same as a bar of the named group. */
int chart_add_bar(struct cov_chart *c, const char *series, const char *group,
                  const struct figure *f, double factor, struct cov_err *e) COV_MUST_USE;

#endif
