/* peaks.h - peaks of a track at a cutoff, as called by MACS3's `bdgpeakcall`; and how many there are
 * at many cutoffs.
 *
 * A peak starts and ends with bases at or above the cutoff, has gaps of at most max_gap lower bases
 * between them, and is at least min_length bases long. A base without a value is below the cutoff.
 * (MACS3 gives it the value that follows.)
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_PEAKS_H
#define COV_TRACK_MEASURES_PEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

struct cov_peak_rules {
    float cutoff;
    int64_t min_length, max_gap; /* bases */
};

/* The defaults of MACS3, as texts for tables of options. */
#define COV_PEAKS_LENGTH "200"
#define COV_PEAKS_GAP "30"

/* Sets *out to a value that the user gave. COV_EUSAGE, with the name of the option, if it is out of
 * range. */
int cov_peaks_cutoff(double value, const char *option, float *out, struct cov_err *e) COV_MUST_USE;

/* Bases beg .. end-1 of the contig. The counted bases in the peak are those with numbers count_beg
 * .. count_end-1. */
struct cov_peak {
    int64_t beg, end, count_beg, count_end;
    float max;
    double sum;     /* of all values */
    int64_t summit; /* the middle of the bases that have the value max, of the middle one if there
                     * are several such stretches */
};

/* The peaks of one contig. */
struct cov_peaks {
    struct cov_peak_rules rules;
    float max; /* the largest value; -INFINITY: none */
    size_t n;
    struct cov_peak *list; /* ascending. Owned */
    /* Private from here on. */
    size_t cap;
    bool is_open;
    struct cov_peak open;        /* a candidate */
    struct cov_interval stretch; /* its last bases of equal value; empty: none */
    double sum_after;            /* of the lower values after it */
    int64_t *middles;            /* [n_middles] of the stretches with the value open.max. Owned */
    size_t n_middles, cap_middles;
};

/* A struct whose members except `rules` are zero is empty. */
void cov_peaks_fini(struct cov_peaks *p);

/* Starts a contig. */
void cov_peaks_begin(struct cov_peaks *p);

/* Adds the next interval or part of one, ascending. `count` is the number of counted bases before
 * it; its own bases are counted if `counts`. Memory: 56 bytes per peak. */
int cov_peaks_add(struct cov_peaks *p, const struct cov_interval *iv, int64_t count, bool counts,
                  struct cov_err *e) COV_MUST_USE;

/* Ends the contig. */
int cov_peaks_end(struct cov_peaks *p, struct cov_err *e) COV_MUST_USE;

enum { COV_PEAKS_REASON_BYTES = 120 };

/* Writes why a track has no peaks to `text`, such as "no peaks at 25: the largest value is 13".
 * `max` is the largest value of all contigs; -INFINITY: there is none. `option` sets
 * rules->min_length. */
void cov_peaks_reason(const struct cov_peak_rules *rules, float max, const char *option,
                      char text[COV_PEAKS_REASON_BYTES]);

/* Return the number of counted bases that are in peaks, and that are in peaks of both tracks. */
int64_t cov_peaks_bases(const struct cov_peaks *p);
int64_t cov_peaks_shared(const struct cov_peaks *a, const struct cov_peaks *b);

/* ---- many cutoffs at once ---- */

/* The peaks at a cutoff. */
struct cov_peak_sums {
    float cutoff;
    uint64_t n;               /* peaks */
    int64_t valued, positive; /* bases in peaks: with a value; with a value and positive */
};

/* Counts the peaks of a track at all cutoffs. The work per interval grows with the number of cutoffs
 * between its value and the previous one, not with the number of cutoffs. */
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
