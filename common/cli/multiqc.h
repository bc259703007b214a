/* multiqc.h - statistics as sections of a MultiQC report.
 *
 * MultiQC reads files named *_mqc.json as "custom content", and needs no configuration to show
 * them: https://docs.seqera.io/multiqc/custom_content. A file is one section; files with the same
 * id are joined, and must have different rows and the same columns.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_MULTIQC_H
#define COV_CLI_MULTIQC_H

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/cli/stats.h"

/* Room for a name of a row or a column. */
enum { COV_MULTIQC_NAME_BYTES = 512 };

/* Sets name to the row of a part of a sample: "SAMPLE.PART", or "PART" if that begins with the
 * sample and a dot or underscore. */
void cov_multiqc_row(const char *sample, const char *part, char name[COV_MULTIQC_NAME_BYTES]);

/* Sets *sample to the name of the sample in the report, `path` without its directory, _mqc.json and
 * the name of the tool or section before that ("weed" for weed.covpredict_mqc.json), or to NULL if
 * `path` has another suffix or nothing before the suffix. Caller frees. */
int cov_multiqc_sample(const struct cov_stats *s, const char *path, char **sample,
                       struct cov_err *e) COV_MUST_USE;

/* Sets *plot_path to the file for s->plot: "DIR/x.PLOT_mqc.json" for the path "DIR/x_mqc.json", or
 * NULL if there is no plot or `path` has another suffix. Caller frees. */
int cov_multiqc_plot_path(const struct cov_stats *s, const char *path, char **plot_path,
                          struct cov_err *e) COV_MUST_USE;

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
