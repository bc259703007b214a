/* source_options.h - the options of tools that read signal or a track: what to read, and how values
 * are smoothed. A group of rows, as in common/cli/shared_options.h.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SIGNAL_SOURCE_OPTIONS_H
#define COV_SIGNAL_SOURCE_OPTIONS_H

#include "common/cli/shared_options.h"
#include "common/signal/track_source.h"
#include "common/track/smooth.h"

/* Indices of the first rows within the group. */
enum { COV_SOURCE_ROW_REGIONS, COV_SOURCE_ROW_REGIONS_FILE };

extern const char *const cov_source_strands[]; /* ended by NULL */

#define COV_SOURCE_FIELD(at, name) (at) + offsetof(struct cov_source_options, name)

/* Ten rows, which fill a struct cov_source_options at offset `at`; without smoothing eight, and
 * without regions two fewer. `does`: what the tool does with coverage, such as "convert"; `names`: the help of --datasets; `keeps`: what it
 * does with regions; `lengths`: when a bedGraph needs lengths. */
#define COV_SOURCE_OPTIONS(at, does, names, keeps, lengths)                                        \
    COV_SOURCE_REGION_OPTIONS(at, keeps), COV_SOURCE_OPTIONS_WHOLE(at, does, names, lengths)
#define COV_SOURCE_OPTIONS_UNSMOOTHED(at, does, names, keeps, lengths)                             \
    COV_SOURCE_REGION_OPTIONS(at, keeps), COV_SOURCE_DATA_OPTIONS(at, does, names),                \
        COV_SOURCE_LIST_OPTIONS(at, lengths)
#define COV_SOURCE_OPTIONS_WHOLE(at, does, names, lengths)                                         \
    COV_SOURCE_DATA_OPTIONS(at, does, names),                                                      \
        COV_OPT(SIZE, "window-size", 0, COV_SOURCE_FIELD(at, values.smoothing.window), "N",        \
                "smooth with a centred moving mean over N bases", .min = 1,                        \
                .max = COV_SMOOTH_MAX_WINDOW),                                                     \
        COV_OPT(STRING, "smooth", 0, COV_SOURCE_FIELD(at, smooth), "gauss:SD",                     \
                "smooth with a Gaussian whose standard deviation is SD bases"),                    \
        COV_SOURCE_LIST_OPTIONS(at, lengths)

/* Parts of the above. */
#define COV_SOURCE_REGION_OPTIONS(at, keeps)                                                       \
    COV_REGIONS_OPTION(COV_SOURCE_FIELD(at, regions), keeps " only"),                              \
        COV_REGIONS_FILE_OPTION(COV_SOURCE_FIELD(at, bed_path), keeps " only")
#define COV_SOURCE_DATA_OPTIONS(at, does, names)                                                   \
    COV_OPT(FLAG, "experimental", 0, COV_SOURCE_FIELD(at, measured), NULL,                         \
            "INPUT is a genome file: " does " its measured coverage, the mean of its BAM "         \
            "files"),                                                                              \
        COV_OPT(LIST, "datasets", 0, COV_SOURCE_FIELD(at, datasets), "LIST", names,                \
                .flags = COV_OPT_UNIQUE),                                                          \
        COV_OPT(ENUM, "strand", 0, COV_SOURCE_FIELD(at, strand), NULL,                             \
                "mean of both strands, or one of them", .def = "avg",                              \
                .choices = cov_source_strands)
#define COV_SOURCE_LIST_OPTIONS(at, lengths)                                                       \
    COV_BLACKLIST_FILE_OPTION(COV_SOURCE_FIELD(at, blacklist_path), "drop"),                       \
        COV_RENAME_OPTION(COV_SOURCE_FIELD(at, rename_path)),                                      \
        COV_OPT(STRING, "chrom-sizes", 0, COV_SOURCE_FIELD(at, sizes_path), "FILE",                \
                "two columns: name and length of each sequence of a bedGraph" lengths              \
                "; or the FASTA file's index (.fai)",                                              \
                .flags = COV_OPT_PATH_IN)

/* A row for tools in which bases without a value would not count. */
#define COV_FILL_GAPS_OPTION(at)                                                                   \
    COV_OPT(FLAG, "fill-gaps", 0, COV_SOURCE_FIELD(at, fill_gaps), NULL,                           \
            "bigWig, bedGraph: count bases without a value as 0")

/* A row for tools that compare tracks. */
#define COV_REPLICATES_OPTION(at)                                                                  \
    COV_OPT(FLAG, "replicates", 0, COV_SOURCE_FIELD(at, replicates), NULL,                         \
            "genome files: read each BAM file of a dataset as a track of its own, instead of "     \
            "their mean")

/* Completes the options after their rows: the smoothing, and a scale of 1. COV_EUSAGE for two ways of
 * smoothing. */
int cov_source_options_finish(struct cov_source_options *o, struct cov_err *e) COV_MUST_USE;

#endif
