/* peaks.h - peaks of a track at a threshold, as called by MACS3's `bdgpeakcall`.
 *
 * A peak starts and ends with bases at or above the threshold, has gaps of at most COV_PEAKS_GAP
 * lower bases between them, and is at least COV_PEAKS_LENGTH bases long. A base without a value is
 * below the threshold. (MACS3 gives it the value that follows.)
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_PEAKS_H
#define COV_TRACK_PEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

enum { COV_PEAKS_GAP = 30, COV_PEAKS_LENGTH = 200 };

/* Bases beg .. end-1 of the contig. The counted bases in the peak are those with numbers count_beg
 * .. count_end-1. */
struct cov_peak {
    int64_t beg, end, count_beg, count_end;
};

/* The peaks of one contig. */
struct cov_peaks {
    float threshold;
    float max; /* the largest value; -INFINITY: none */
    size_t n;
    struct cov_peak *list; /* ascending. Owned */
    /* Private from here on. */
    size_t cap;
    bool is_open;
    struct cov_peak open; /* a candidate */
};

/* A struct whose members except `threshold` are zero is empty. */
void cov_peaks_fini(struct cov_peaks *p);

/* Starts a contig. */
void cov_peaks_begin(struct cov_peaks *p);

/* Adds the next interval or part of one, ascending. `count` is the number of counted bases before
 * it; its own bases are counted if `counts`. Memory: 32 bytes per peak. */
int cov_peaks_add(struct cov_peaks *p, const struct cov_interval *iv, int64_t count, bool counts,
                  struct cov_err *e) COV_MUST_USE;

/* Ends the contig. */
int cov_peaks_end(struct cov_peaks *p, struct cov_err *e) COV_MUST_USE;

/* Return the number of counted bases that are in peaks, and that are in peaks of both tracks. */
int64_t cov_peaks_bases(const struct cov_peaks *p);
int64_t cov_peaks_shared(const struct cov_peaks *a, const struct cov_peaks *b);

#endif
