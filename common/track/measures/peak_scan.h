/* peak_scan.h - counts the peaks of a track (peaks.h) at many cutoffs at once.
 *
 * The work per interval grows with the number of cutoffs between its value and the previous one,
 * not with the number of cutoffs.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_PEAK_SCAN_H
#define COV_TRACK_MEASURES_PEAK_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/measures/peaks.h"

/* The peaks at a cutoff. */
struct cov_peak_sums {
    float cutoff;
    uint64_t n;               /* peaks */
    int64_t valued, positive; /* bases in peaks: with a value; with a value and positive */
};

struct cov_peak_scan {
    size_t n;                   /* cutoffs */
    struct cov_peak_sums *sums; /* [n], by ascending cutoff. Owned */
    size_t n_counted;           /* peaks at the first n_counted cutoffs are counted: all, unless the
                                 * caller changes it at the start of a contig */
    /* Private. */
    int64_t min_length, max_gap;
    struct cov_scan_level *levels; /* [n]. Owned */
    size_t n_high;                 /* the cutoffs that the last base reaches: the first n_high */
    size_t n_with;            /* the cutoffs that have a peak in the contig: the first n_with */
    int64_t end;              /* end of the last interval */
    int64_t valued, positive; /* bases so far */
};

/* `cutoffs` ascend. `rules`: the cutoff is ignored. Free with cov_peak_scan_fini, which accepts all
 * zeros. */
int cov_peak_scan_init(struct cov_peak_scan *s, const float *cutoffs, size_t n,
                       const struct cov_peak_rules *rules, struct cov_err *e) COV_MUST_USE;
void cov_peak_scan_fini(struct cov_peak_scan *s);

/* Adds the next interval of the contig, of which `positive` bases are positive. */
void cov_peak_scan_add(struct cov_peak_scan *s, const struct cov_interval *iv, int64_t positive);

/* Ends the contig. Returns how many cutoffs have a peak in it, counted or not: those before the
 * next do, too. */
size_t cov_peak_scan_end(struct cov_peak_scan *s);

#endif
