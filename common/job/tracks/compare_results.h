/* compare_results.h - what cov2bigwig --measured prints: tables, "comparison" of --stats, and
 * figures of the MultiQC report.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_COMPARE_RESULTS_H
#define COV_JOB_TRACKS_COMPARE_RESULTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/cli/stats.h"
#include "common/track/measures/comparison.h"

/* Borrows everything. */
struct cov_compare_results {
    const char *stem, *measured_path;
    const struct cov_comparison_options *options;
    struct cov_comparison *const *comparisons; /* [n] */
    const char *const *datasets;               /* [n]: names, which may be NULL */
    size_t n;
};

/* Prints the tab-separated table, or the totals of the datasets, aligned for people. The caller
 * checks the stream for errors. */
void cov_compare_print_table(const struct cov_compare_results *r, FILE *f);
void cov_compare_print_totals(const struct cov_compare_results *r, FILE *f);

/* Adds "comparison": {...}. */
void cov_compare_print_json(const struct cov_compare_results *r, struct cov_json *json);

/* For stats->plot: the correlations, in a MultiQC report. */
extern const struct cov_stats_plot cov_compare_plot;

/* Adds the totals of the datasets as figures for the MultiQC report. */
int cov_compare_add_figures(const struct cov_compare_results *r, struct cov_stats *stats,
                            struct cov_err *e) COV_MUST_USE;

#endif
