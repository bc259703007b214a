/* profile_jobs.h - the jobs of covprofile's subcommands.
 *
 * Each reads its inputs once, writes a table, and draws request->paths.plot. COV_EINPUT for options
 * that do not fit the files, and for files that do not fit each other.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_PROFILE_JOBS_H
#define COV_JOB_PROFILE_PROFILE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/cli/opt.h"
#include "common/cli/stats.h"
#include "common/job/profile/profile_inputs.h"
#include "common/track/measures/profile.h"

/* ---- gene_profile.c ---- */

/* Borrowed for the call. */
struct cov_gene_profile_options {
    struct cov_strings annotations; /* a file for each input, or one for all */
    struct cov_profile_layout layout;
    bool median; /* over the features; otherwise the mean */
    bool tsse;   /* warn about each track without a TSS enrichment */
};

/* A TSS enrichment needs bins of this width, around the TSS, and this many bases or more on both sides. */
enum { COV_TSSE_BIN = 10, COV_TSSE_SIDE = 2000 };

/* Writes a row for each position around the features, of request->features except for its path, and a
 * column for each track; as second file, for one annotation, a matrix as of computeMatrix. *stats gets "profiles". */
int cov_gene_profile_run(const struct cov_profile_request *request,
                         const struct cov_gene_profile_options *options,
                         struct cov_err *e) COV_MUST_USE;

/* For the MultiQC report of --stats. */
extern const struct cov_stats_plot cov_gene_profile_lines;

/* ---- feature_table.c ---- */

/* Writes a row for each of request->features, and for each track the mean, minimum, maximum and sum of its
 * bases with a value, and their number. COV_EINPUT if a track has none in any feature. Memory: 24 bytes
 * for each feature and track. *stats gets "table". */
int cov_feature_table_run(const struct cov_profile_request *request,
                          struct cov_err *e) COV_MUST_USE;

/* ---- region_tracks.c ---- */

/* Borrowed for the call. */
struct cov_region_options {
    const char *region;        /* see cov_range_parse */
    struct cov_strings labels; /* of all tracks; n = 0: the names of their files */
    struct cov_strings peaks;  /* BED files */
    bool own_scales;           /* each track has its own y axis; else all have the same */
};

/* Writes a row for each bin of the region, and no second file. Draws request->features, unless their
 * path is NULL. COV_EINPUT if an input lacks the region, the annotation lacks its contig, or files
 * have different lengths for it. *stats gets "region". */
int cov_region_run(const struct cov_profile_request *request,
                   const struct cov_region_options *options, struct cov_err *e) COV_MUST_USE;

/* ---- correlate_tracks.c ---- */

struct cov_correlate_options {
    int64_t bin; /* correlate the means of bins of this width */
    /* Or, unless the path of request->features is NULL, of windows around these, each of a single
     * bin. */
    struct cov_profile_layout layout;
    bool spearman; /* correlate ranks; ties have the mean of their ranks */
    /* Base by base: the mean over the windows, in bins of a base, of Pearson's r in each; 0 where a
     * track has equal values or none. */
    bool by_base;
};

/* Writes a square table, and draws it clustered. Bins and features count where all tracks have a
 * value. COV_EINPUT for a single track. *stats gets "correlations". */
int cov_correlate_run(const struct cov_profile_request *request,
                      const struct cov_correlate_options *options, struct cov_err *e) COV_MUST_USE;

/* For the MultiQC report of --stats. */
extern const struct cov_stats_plot cov_correlate_cells;

/* ---- score_map.c ---- */

/* Borrowed for the call. */
struct cov_score_map_options {
    const char *value;           /* a column of the tables */
    struct cov_strings datasets; /* n = 0: all but "total" */
    struct cov_strings labels;   /* of the tables; n = 0: the names of their files */
};

/* Reads a table for each of request->inputs, with a value for a file and dataset in each row, and writes a row
 * for each file, and a column for each table and dataset, NaN where there is none. COV_EINPUT for a value that is not a
 * number, or is there twice. *stats gets "heatmap". */
int cov_score_map_run(const struct cov_profile_request *request,
                      const struct cov_score_map_options *options, struct cov_err *e) COV_MUST_USE;

/* For the MultiQC report of --stats. */
extern const struct cov_stats_plot cov_score_map_cells;

/* ---- fingerprint_tracks.c ---- */

/* Borrowed for the call. */
struct cov_fingerprint_options {
    int64_t bin;         /* the signal is that of bins of this width */
    const char *control; /* an input with one track, the first; NULL: none */
};

/* Writes a row for each track (lorenz.h), and no second file. Bins count where all tracks have a value.
 * COV_EINPUT for negative values, or a track without signal. *stats gets "fingerprints". */
int cov_fingerprint_run(const struct cov_profile_request *request,
                        const struct cov_fingerprint_options *options,
                        struct cov_err *e) COV_MUST_USE;

/* ---- coverage_tracks.c ---- */

/* Writes a row for each track, and as second file a table of the curves, which count values from
 * i * step to (i + 1) * step. Memory is bounded by that of cov_value_counts for each dataset of an
 * input. COV_EINPUT for a track without values. Warns if many bases have none. *stats gets
 * "coverage". */
int cov_coverage_run(const struct cov_profile_request *request, double step,
                     struct cov_err *e) COV_MUST_USE;

#endif
