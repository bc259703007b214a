/* measured_options.h - the options of subcommands that need measured peaks. A group of rows, as in
 * common/cli/shared_options.h.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_MEASURED_OPTIONS_H
#define COV_JOB_PEAKS_MEASURED_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/cli/opt.h"
#include "common/job/peaks/measured.h"
#include "common/signal/source_options.h"

/* Indices of the rows within the group. */
enum {
    COV_MEASURED_ROW_PATH,
    COV_MEASURED_ROW_CUTOFF,
    COV_MEASURED_ROW_DATASET,
    COV_MEASURED_ROWS
};

/* Three rows, which fill a struct cov_measured_options at offset `at`. `does` begins the help of --measured; `required` is a flag of its row, or 0. */
#define COV_MEASURED_OPTIONS(at, does, required)                                                   \
    COV_OPT(STRING, "measured", 0, (at) + offsetof(struct cov_measured_options, path), "FILE",     \
            does "; FILE has measured peaks (BED, narrowPeak, broadPeak, gappedPeak), or, with "   \
                 "--measured-cutoff, a measured track",                                            \
            .flags = COV_OPT_PATH_IN | (required)),                                                \
        COV_OPT(FLOAT, "measured-cutoff", 0, (at) + offsetof(struct cov_measured_options, cutoff), \
                "V",                                                                               \
                "FILE of --measured is a bigWig, a bedGraph or a genome file; call its peaks at "  \
                "V"),                                                                              \
        COV_OPT(LIST, "measured-dataset", 0,                                                       \
                (at) + offsetof(struct cov_measured_options, dataset), "NAME",                     \
                "the dataset to read, if FILE of --measured has several "                          \
                "(default: that of --datasets)")

/* Completes the options after their rows. `given` tells which rows of the group were on the command
 * line; `source` are the options of the input, whose dataset is the default. The peaks of a track
 * are called with the lengths of `rules`. COV_EUSAGE for an option without the one that it needs. */
int cov_measured_options_finish(struct cov_measured_options *o, const bool *given,
                                const struct cov_source_options *source,
                                const struct cov_peak_rules *rules, struct cov_err *e) COV_MUST_USE;

#endif
