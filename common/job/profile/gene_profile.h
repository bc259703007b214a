/* gene_profile.h - the job of `covprofile genes`: tracks around the features of an annotation.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_GENE_PROFILE_H
#define COV_JOB_PROFILE_GENE_PROFILE_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/job/profile/profile_tracks.h"

/* Borrowed for the call. */
struct cov_gene_profile_options {
    struct cov_profile_features features;
    struct cov_profile_layout layout;
    bool median; /* over the features; otherwise the mean */
};

/* Writes a row for each position, and a column for each track; as second file, a matrix
 * as of computeMatrix. Reads each input once. COV_EINPUT
 * for options that do not fit the files, for files that do not fit each other. *stats
 * gets "profiles". */
int cov_gene_profile_run(const struct cov_profile_request *request,
                         const struct cov_gene_profile_options *options,
                         struct cov_err *e) COV_MUST_USE;

/* For the MultiQC report of --stats. */
extern const struct cov_stats_plot cov_gene_profile_lines;

#endif
