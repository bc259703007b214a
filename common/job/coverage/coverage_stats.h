/* coverage_stats.h - what bam2h5 reports in --stats.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_COVERAGE_COVERAGE_STATS_H
#define COV_JOB_COVERAGE_COVERAGE_STATS_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/job/coverage/count_file.h"
#include "common/job/coverage/depth_summary.h"
#include "common/seq/grid.h"
#include "common/seq/names.h"

struct cov_coverage_results {
    struct cov_count_file *files;     /* [n_files] */
    struct cov_depth_column *columns; /* [n_columns] of the data set, with those it had before */
    size_t n_files, n_columns;
    struct cov_names *names; /* of the sequences */
    const struct cov_grid *grid;
    int bits; /* of a stored value */
};

/* Moves the results, except for the grid, to *stats, and leaves *results empty. */
int cov_coverage_stats_add(struct cov_coverage_results *results, struct cov_stats *stats,
                           struct cov_err *e) COV_MUST_USE;

/* NULL is accepted. */
void cov_count_files_free(struct cov_count_file *files, size_t n);
void cov_depth_columns_free(struct cov_depth_column *columns, size_t n);

#endif
