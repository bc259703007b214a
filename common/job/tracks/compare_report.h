/* compare_report.h - what a comparison found, as a table and as JSON.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_COMPARE_REPORT_H
#define COV_JOB_TRACKS_COMPARE_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/cli/stats.h"
#include "common/track/comparison.h"

/* All borrowed. */
struct cov_compare_track {
    const char *dataset; /* NULL: it has no name */
    struct cov_comparison *comparison;
};

struct cov_compare_report {
    const char *stem;     /* of the input */
    const char *measured; /* the file */
    const struct cov_comparison_options *options;
    const struct cov_compare_track *tracks;
    size_t n_tracks;
};

/* Tab-separated, a line of names first; a line a contig and data set, and one in total. The
 * first column is different in all lines. Errors of the stream are left to the caller. */
void cov_compare_print_table(const struct cov_compare_report *r, FILE *f);

/* "comparison": {...}. */
void cov_compare_print_json(const struct cov_compare_report *r, struct cov_json *j);

/* The totals, for a report; each of a data set, unless there is but one. */
int cov_compare_add_figures(const struct cov_compare_report *r, struct cov_stats *stats,
                            struct cov_err *e) COV_MUST_USE;

#endif
