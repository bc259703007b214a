/* measured.h - measured peaks, from a file of peaks or called in a measured track: the bases that
 * count as positive.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_MEASURED_H
#define COV_JOB_PEAKS_MEASURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/cli/opt.h"
#include "common/seq/names.h"
#include "common/seq/regions.h"
#include "common/signal/track_source.h"
#include "common/track/measures/peaks.h"
#include "common/track/measures/value_counts.h"
#include "common/track/sink.h"

/* Strings are borrowed for the call. */
struct cov_measured_options {
    const char *path;            /* not standard input */
    bool is_track;               /* a track, whose peaks by `rules` count; else a file of peaks */
    struct cov_peak_rules rules; /* for a track */
    double cutoff;               /* as on the command line: for cov_measured_options_finish */
    struct cov_strings dataset;  /* as on the command line */
    const struct cov_strings *chosen; /* of a genome file; n = 0: all, which must be one */
    bool is_own_choice; /* they were chosen by --measured-dataset, not by --datasets */
    bool may_be_empty;  /* warn if there are no peaks */
};

/* Empty if all zero. */
struct cov_measured {
    const char *path; /* borrowed */
    /* Private. */
    struct cov_names *names;
    struct cov_last_peak *last;  /* [count of names]; NULL for a track. Owned */
    struct cov_region_list list; /* merged */
    size_t *first;               /* [count of names + 1]: where the regions of a sequence begin */
    bool *found;                 /* [count of names]: the input has the sequence */
};

/* Reads the peaks. COV_EINPUT for a track without a cutoff, if it can be recognised, for
 * a malformed line, with its number, and if there are no peaks, unless o->may_be_empty. Free with
 * cov_measured_fini, also after a failure. */
int cov_measured_read(const struct cov_measured_options *o, unsigned n_threads,
                      struct cov_progress *progress, struct cov_measured *out,
                      struct cov_err *e) COV_MUST_USE;
void cov_measured_fini(struct cov_measured *m);

/* The peaks of a sequence: disjoint, ascending. */
struct cov_measured_cursor {
    const struct cov_region *regions;
    size_t n, at;
};

/* For peaks that the caller has: *m has its path, names, list and, unless the peaks are of a track, last,
 * which stay the caller's. Sets the rest; free m->first and m->found, also after a failure. */
int cov_measured_index(struct cov_measured *m, struct cov_err *e) COV_MUST_USE;

/* Starts with the first peak of the sequence, and notes that the input has it. */
void cov_measured_begin(struct cov_measured *m, const char *name, struct cov_measured_cursor *c);

/* Returns how many of the bases [beg, end) are in peaks. Calls ascend. */
int64_t cov_measured_overlap(struct cov_measured_cursor *c, int64_t beg, int64_t end);

/* ---- the values of a track, counted within and outside measured peaks ---- */

struct cov_scores {
    struct cov_track_sink sink; /* first; receives the track */
    struct cov_value_counts counts;
    int64_t n_positive;            /* bases with a value that are in measured peaks */
    double positive;               /* the sum of their values */
    struct cov_measured *measured; /* NULL: none */
    struct cov_measured_cursor at; /* private */
};

/* `max`: see cov_value_counts_init; 0: only sums, for which bases without a value do not matter.
 * Each pass of an input needs its own. Borrows `source` and `measured` until cov_track_free of the
 * sink, which frees the rest. */
int cov_scores_init(struct cov_scores *s, const struct cov_track_source *source, size_t max,
                    struct cov_measured *measured, struct cov_err *e) COV_MUST_USE;

/* Call it after the sink was closed. COV_EINPUT if no base has a value, and with measured peaks, if
 * they are on other or shorter sequences, or where no base has a value (only a warning if the sink only
 * sums). Unless the options choose regions, warns about bases without a value, and about peaks on other
 * sequences. */
int cov_scores_check(const struct cov_scores *s, const struct cov_track_source *source,
                     const struct cov_source_options *o, struct cov_err *e) COV_MUST_USE;

/* ---- options: a group of rows, as in common/cli/shared_options.h ---- */

/* Indices of the rows within the group. */
enum {
    COV_MEASURED_ROW_PATH,
    COV_MEASURED_ROW_CUTOFF,
    COV_MEASURED_ROW_DATASET,
    COV_MEASURED_ROWS
};

#define COV_MEASURED_KINDS                                                                         \
    "; FILE has measured peaks (BED, narrowPeak, broadPeak, gappedPeak), or, with "                \
    "--measured-cutoff, a measured track"

/* Three rows, which fill a struct cov_measured_options at offset `at`. `does` begins the help of
 * --measured. */
#define COV_MEASURED_OPTIONS(at, does)                                                             \
    COV_OPT(STRING, "measured", 0, (at) + offsetof(struct cov_measured_options, path), "FILE",     \
            does COV_MEASURED_KINDS, .flags = COV_OPT_PATH_IN),                                    \
        COV_MEASURED_TRACK_OPTIONS(at)

/* The last two. */
#define COV_MEASURED_TRACK_OPTIONS(at)                                                             \
    COV_OPT(FLOAT, "measured-cutoff", 0, (at) + offsetof(struct cov_measured_options, cutoff),     \
            "V",                                                                                   \
            "FILE of --measured is a bigWig, a bedGraph or a genome file; call its peaks at V"),   \
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
