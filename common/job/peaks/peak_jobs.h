/* peak_jobs.h - the jobs of `covpeaks call`: peaks of a track, and the cutoff whose peaks have a wanted
 * number or share of the genome, or agree best with measured peaks; and of `covpeaks curve`: how well
 * the bases at or above each cutoff agree with measured peaks. (`compare` and `stats`: peak_files.h.)
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_PEAK_JOBS_H
#define COV_JOB_PEAKS_PEAK_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/peaks/measured.h"
#include "common/plot/table_outputs.h"
#include "common/signal/track_source.h"
#include "common/track/interval_store.h"
#include "common/track/measures/peaks.h"

/* ---- call ---- */

enum cov_auto_by { COV_AUTO_NONE, COV_AUTO_COUNT, COV_AUTO_SHARE, COV_AUTO_MEASURED };

struct cov_auto_options {
    enum cov_auto_by by;
    int64_t count;                        /* wanted peaks */
    double share;                         /* wanted share of the bases, of those with a value */
    struct cov_measured_options measured; /* F1 of the bases in peaks is to be large */
};

/* Strings are borrowed for the call. */
struct cov_call_options {
    struct cov_source_options source; /* except `only` and `factors` */
    struct cov_peak_rules rules;
    /* Unless `by` is COV_AUTO_NONE: how to find rules.cutoff; for broad peaks, how to find
     * weak.cutoff and, unless has_cutoff, also rules.cutoff. */
    struct cov_auto_options automatic;
    bool has_cutoff;
    /* Broad peaks: peaks by the rules `weak`, of contigs that have a peak by `rules`. These become
     * the blocks of a gappedPeak file. */
    bool broad;
    struct cov_peak_rules weak; /* a lower cutoff, and longer gaps */
    bool summits;               /* BED: the summits of the peaks */
    bool mean;                  /* signalValue is a mean */
    const char *output;         /* a suffix selects the format; "-": narrowPeak, or gappedPeak */
    bool force;
    const char *tmpdir; /* for `automatic`; NULL: the directory of the output */
};

/* Calls the peaks of one dataset of `input`. Contigs are in the order of its tracks. Memory holds
 * the peaks of a contig, and what the input needs. An automatic cutoff stores the track in a
 * temporary file. Warns if there are no peaks. COV_EUSAGE for contradictory options or an unknown
 * suffix, COV_EINPUT for several datasets. Sets bases, stages and figures of *stats, which gets
 * "peaks". */
int cov_call_peaks(const char *input, const struct cov_call_options *options, unsigned n_threads,
                   struct cov_progress *progress, struct cov_stats *stats,
                   struct cov_err *e) COV_MUST_USE;

/* ---- the search for a cutoff (auto_cutoff.c) ---- */

/* The rules of the peaks, whose cutoff is to be found. */
struct cov_auto_rules {
    struct cov_peak_rules peaks; /* its cutoff is ignored */
    /* Broad peaks: only contigs with a peak by the rules `strong` count. Without has_strong,
     * the strong cutoff is twice the weak one, like the defaults of MACS3's bdgbroadcall. */
    bool is_broad, has_strong;
    struct cov_peak_rules strong;
};

struct cov_auto_result {
    struct cov_peak_sums sums;
    float strong;  /* the cutoff of broad peaks' strong peaks */
    uint64_t most; /* COV_AUTO_COUNT: the largest number of peaks at any cutoff */
    double f1;     /* COV_AUTO_MEASURED */
    /* Broad peaks: a higher cutoff might be better, but has none, because it reaches the strong
     * one or its strong one has no peaks. */
    bool is_limited;
};

/* Many tracks have fewer values; otherwise values of 13 % difference or less share a cutoff. */
enum { COV_AUTO_VALUES = 4096 };

/* Finds the cutoff of the track in `store`, whose values are in *scores, among these values (up to
 * COV_AUTO_VALUES), for broad peaks among those below the strong cutoff:
 * - COUNT: among those not below the one with most peaks, that with the closest number of peaks;
 * - SHARE: that with the closest share;
 * - MEASURED: that with the largest F1, which is 2 both / (bases in peaks + bases in measured
 *   peaks), over the bases with a value.
 * If several are as good, the largest. COV_EINPUT if there are no peaks at any cutoff. */
int cov_auto_cutoff_find(const struct cov_interval_store *store, struct cov_scores *scores,
                         const struct cov_auto_options *o, const struct cov_auto_rules *rules,
                         struct cov_auto_result *out, struct cov_err *e) COV_MUST_USE;

/* ---- curve (precision_recall.c) ---- */

/* The table has about COV_CURVE_POINTS cutoffs of each window, if there are more. */
enum { COV_CURVE_MAX_WINDOWS = 16, COV_CURVE_POINTS = 1000 };

/* Borrowed for the call. */
struct cov_curve_options {
    struct cov_strings labels;        /* of the inputs; n = 0: the names of the files */
    struct cov_source_options source; /* except `only` and `factors` */
    const int64_t *windows;           /* [n_windows] of the moving mean; 1: none */
    size_t n_windows;
    struct cov_strings measured_paths;    /* a file for each input, or one for all */
    struct cov_measured_options measured; /* except `path` */
    struct cov_table_paths paths;         /* no second file */
};

/* The graph of a run in a report. */
extern const struct cov_stats_plot cov_curve_lines;

/* Writes a row for each cutoff of each window of each input: a base is positive if its value is at least the
 * cutoff. Bases without a value do not count. The area below a curve is the average precision, the
 * sum of (recall - recall at the next cutoff) * precision. Without measured peaks, recall is 0. Reads
 * an input once for each window. COV_EINPUT if options or measured
 * peaks do not fit the files. *stats gets "curves". */
int cov_curve_run(char *const *inputs, size_t n_inputs, const struct cov_curve_options *options,
                  unsigned n_threads, struct cov_progress *progress, struct cov_stats *stats,
                  struct cov_err *e) COV_MUST_USE;

#endif
