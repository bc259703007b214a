/* stats_file.h - the files that --stats writes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_STATS_FILE_H
#define COV_CLI_STATS_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/cli/stats.h"

/* Writes JSON. The caller checks the stream for errors. */
void cov_stats_print(const struct cov_stats *s, FILE *f);

/* Writes the output of cov_stats_print to the file `path`. If the name ends in _mqc.json, the file
 * is also a section of a MultiQC report (multiqc.h), and s->plot is written to a second file,
 * SAMPLE.PLOT_mqc.json. Replaces existing files only if `force` is set. */
int cov_stats_write(const struct cov_stats *s, const char *path, bool force,
                    struct cov_err *e) COV_MUST_USE;

/* Fails if cov_stats_write would: a directory is missing, or a file exists and `force` is not set. */
int cov_stats_check(const struct cov_stats *s, const char *path, bool force,
                    struct cov_err *e) COV_MUST_USE;

#endif
