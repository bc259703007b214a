/* gene_profile.h - the job of `covprofile genes`: tracks around the features of an annotation.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_GENE_PROFILE_H
#define COV_JOB_PROFILE_GENE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/source/track_source.h"
#include "common/track/measures/profile.h"

/* Borrowed for the call. */
struct cov_gene_profile_options {
    struct cov_source_options source; /* except `only` and `factors` */
    const char *genes;                /* the annotation */
    const char *feature;              /* the type of features, except for BED */
    bool needs_types;                 /* refuse a BED */
    struct cov_profile_layout layout;
    bool median;        /* over the features; otherwise the mean */
    const char *output; /* the table; NULL or "-": `printed` */
    FILE *printed;
    bool force;
    const char *matrix; /* a file as of computeMatrix; NULL: none */
    const char *plot;   /* a picture, .svg or .png; NULL: none */
    const char *tmpdir; /* NULL: the folder of an output */
};

/* Writes a row for each position, and a column for each track. Reads each input once. COV_EUSAGE
 * for options that do not fit the files, COV_EINPUT for files that do not fit each other. *stats
 * gets "profiles". */
int cov_gene_profile_run(char *const *inputs, size_t n_inputs,
                         const struct cov_gene_profile_options *options, unsigned n_threads,
                         struct cov_progress *progress, struct cov_stats *stats,
                         struct cov_err *e) COV_MUST_USE;

/* For the MultiQC report of --stats. */
extern const struct cov_stats_plot cov_gene_profile_lines;

#endif
