/* stats_file.h - the files that --stats writes, also as sections of a MultiQC report.
 *
 * MultiQC reads files named *_mqc.json as "custom content", and needs no configuration to show
 * them: https://docs.seqera.io/multiqc/custom_content. A file is one section; files with the same
 * id are joined, and must have different rows and the same columns.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_STATS_FILE_H
#define COV_CLI_STATS_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/cli/stats.h"

/* Writes JSON. The caller checks the stream for errors. */
void cov_stats_print(const struct cov_stats *s, FILE *f);

/* Returns true for the name of a log: it ends in .log. */
bool cov_stats_is_log(const char *path);

/* Sets text to the start of a line of a log, as in Predmoter's: "29.11.2026 17:05:00, INFO: ". `level`
 * has at most 10 bytes. */
enum { COV_STATS_LINE_START = 48 };
void cov_stats_start_line(const char *level, char text[COV_STATS_LINE_START]);

/* Writes the output of cov_stats_print to the file `path`, or to a log s->events and a line for each
 * value. If the name ends in _mqc.json, the file is also a section of a MultiQC report, and s->plot is
 * written to a second file, SAMPLE.PLOT_mqc.json. Replaces existing files only if `force` is set. */
int cov_stats_write(const struct cov_stats *s, const char *path, bool force,
                    struct cov_err *e) COV_MUST_USE;

/* Fails if cov_stats_write would: a directory is missing, or a file exists and `force` is not set. */
int cov_stats_check(const struct cov_stats *s, const char *path, bool force,
                    struct cov_err *e) COV_MUST_USE;

/* Room for a name of a row or a column. */
enum { COV_MULTIQC_NAME_BYTES = 512 };

/* Sets name to the row of a part of a sample: "SAMPLE.PART", or "PART" if that begins with the
 * sample and a dot or underscore. */
void cov_multiqc_row(const char *sample, const char *part, char name[COV_MULTIQC_NAME_BYTES]);

/* Adds the section that s->place selects to the open object.
 *
 * COV_STATS_TABLE: a row for `sample`, and a row "SAMPLE.PART" for each part with figures.
 * Otherwise columns of the general statistics, in the row `sample`, or, if all figures describe one
 * part, in the row `sample` without ".PART", so that the runs of a sample share a row. */
void cov_multiqc_print(const struct cov_stats *s, const char *sample, struct cov_json *j);

/* Adds s->plot, which must not be NULL, to the open object. The rows of bars are named SAMPLE.PART,
 * even if `sample` ends in the part already. */
void cov_multiqc_print_plot(const struct cov_stats *s, const char *sample, struct cov_json *j);

#endif
