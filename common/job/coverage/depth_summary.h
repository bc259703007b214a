/* depth_summary.h - mean and median of a column of coverage, and its correlation with the other
 * columns of a dataset, which are replicates.
 *
 * All rows count, of both strands. For correlations, each chunk is cut into bins of equal length
 * of at most COV_DEPTH_BIN bases; the strands of a bin are averaged.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_COVERAGE_DEPTH_SUMMARY_H
#define COV_JOB_COVERAGE_DEPTH_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/chunk/coverage_file.h"
#include "common/seq/grid.h"

enum {
    COV_DEPTH_BIN = 1000,
    COV_DEPTH_MIN_BINS = 100,   /* a correlation needs at least these */
    COV_DEPTH_VALUES = 1 << 16, /* higher values count as the last of these in the median */
};

struct cov_depth_summary {
    /* Private. */
    const struct cov_grid *grid;
    size_t n_bins; /* per pair; shorter pairs have fewer */
    unsigned n_workers;
    float *bins; /* [pairs][n_bins]: means */
    struct cov_depth_counts {
        uint64_t sum, n_by_value[COV_DEPTH_VALUES];
    } * counts;     /* [n_workers] */
    int32_t **room; /* [n_workers][L]; an element is NULL until it is needed */
};

/* Starts without rows. Borrows the grid. cov_depth_summary_fini accepts an all-zero struct. */
int cov_depth_summary_init(struct cov_depth_summary *s, const struct cov_grid *grid,
                           unsigned n_workers, struct cov_err *e) COV_MUST_USE;
void cov_depth_summary_fini(struct cov_depth_summary *s);

/* Any thread: adds the rows of a pair of the grid; without them, they are 0. lanes[] are those of
 * its strands. */
void cov_depth_summary_add(struct cov_depth_summary *s, unsigned worker, size_t pair,
                           const struct cov_depth_lane lanes[2]);
/* Any thread: adds one row of a pair, as stored. */
int cov_depth_summary_add_row(struct cov_depth_summary *s, unsigned worker, size_t pair, int strand,
                              const int64_t *values, struct cov_err *e) COV_MUST_USE;

/* A column of a dataset. */
struct cov_depth_column {
    char *file; /* Owned by the caller */
    double mean, median;
    /* Pearson's correlation, over bins, with the mean of the other columns, without the outliers of
     * that mean (track/measures/outliers.h). NaN if there are fewer than two columns or
     * COV_DEPTH_MIN_BINS bins, or if one of the two is constant. */
    double r;
};

/* Ends the summaries, and sets columns[k] for summary k, except `file`. */
int cov_depth_summaries_end(struct cov_depth_summary *const *summaries, size_t n,
                            struct cov_depth_column *columns, struct cov_err *e) COV_MUST_USE;

#endif
