/* call_peaks.h - the job of `covpeaks call`: peaks of a track.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_CALL_PEAKS_H
#define COV_JOB_PEAKS_CALL_PEAKS_H

#include <stdbool.h>

#include "common/cli/stats.h"
#include "common/job/peaks/auto_cutoff.h"
#include "common/signal/track_source.h"
#include "common/track/measures/peaks.h"

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
 * temporary file. Warns if there are no peaks. COV_EUSAGE for contradictory options or an
 * unknown suffix, COV_EINPUT for several datasets. Sets bases, stages and figures of *stats, which gets "peaks". */
int cov_call_peaks(const char *input, const struct cov_call_options *options, unsigned n_threads,
                   struct cov_progress *progress, struct cov_stats *stats,
                   struct cov_err *e) COV_MUST_USE;

#endif
