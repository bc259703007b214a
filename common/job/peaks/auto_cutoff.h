/* auto_cutoff.h - finds the cutoff whose peaks have a wanted number or share of the genome, or
 * agree best with measured peaks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_AUTO_CUTOFF_H
#define COV_JOB_PEAKS_AUTO_CUTOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/job/peaks/measured.h"
#include "common/job/peaks/scores.h"
#include "common/track/interval_store.h"
#include "common/track/measures/peak_scan.h"

enum cov_auto_by { COV_AUTO_NONE, COV_AUTO_COUNT, COV_AUTO_SHARE, COV_AUTO_MEASURED };

struct cov_auto_options {
    enum cov_auto_by by;
    int64_t count;                        /* wanted peaks */
    double share;                         /* wanted share of the bases, of those with a value */
    struct cov_measured_options measured; /* F1 of the bases in peaks is to be large */
};

/* The rules of the peaks, whose cutoff is to be found. */
struct cov_auto_rules {
    struct cov_peak_rules peaks; /* its cutoff is ignored */
    /* Broad peaks: only contigs with a peak by the rules `strong` count. Without has_strong, its
     * cutoff is twice that of the broad peaks, like the defaults of MACS3's bdgbroadcall. */
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

#endif
