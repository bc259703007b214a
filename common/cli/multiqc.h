/* multiqc.h - statistics in the form that MultiQC shows without a configuration: its "custom content".
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_MULTIQC_H
#define COV_CLI_MULTIQC_H

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/cli/stats.h"

/* MultiQC reads a file whose name ends like this. */
#define COV_MULTIQC_SUFFIX "_mqc.json"

/* The name of the sample that the statistics at `path` are of: its name without folder and
 * COV_MULTIQC_SUFFIX. *sample is NULL where `path` has another suffix, or nothing before it. Caller
 * frees. */
int cov_multiqc_sample(const char *path, char **sample, struct cov_err *e) COV_MUST_USE;

/* Adds to the open object what makes it custom content: a table, with a row for `sample` and one,
 * "SAMPLE.PART", for each part that figures are of. Files of one tool have the same id, and so become
 * one table. */
void cov_multiqc_print(const struct cov_stats *s, const char *sample, struct cov_json *j);

#endif
