/* peaks.h - peaks of a track at a threshold, as MACS3's `bdgpeakcall` calls them.
 *
 * A peak begins and ends with bases whose value is at or above the threshold; between them gaps of
 * at most COV_PEAKS_GAP bases may lie; and it has at least COV_PEAKS_LENGTH bases. A base without a
 * value is not above the threshold. (MACS3 gives it the value that follows.)
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_PEAKS_H
#define COV_TRACK_PEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

enum { COV_PEAKS_GAP = 30, COV_PEAKS_LENGTH = 200 };

/* Bases beg .. end-1, of which those that count are the count_beg-th to the count_end-1-th that
 * count. */
struct cov_peak {
    int64_t beg, end, count_beg, count_end;
};

/* Those of one contig. */
struct cov_peaks {
    float threshold;
    size_t n;
    struct cov_peak *list; /* ascending. Owned */
    /* The rest is private. */
    size_t cap;
    bool is_open;
    struct cov_peak open; /* what may become a peak */
};

/* All but `threshold` zero is an empty one. */
void cov_peaks_fini(struct cov_peaks *p);

/* Begins a contig. */
void cov_peaks_begin(struct cov_peaks *p);

/* The next interval, ascending, which may be a part of one. Before it `count` bases count, and of
 * its own all or none. Memory: 32 bytes a peak. */
int cov_peaks_add(struct cov_peaks *p, const struct cov_interval *iv, int64_t count, bool counts,
                  struct cov_err *e) COV_MUST_USE;

/* The contig ends here. */
int cov_peaks_end(struct cov_peaks *p, struct cov_err *e) COV_MUST_USE;

/* Bases that count: in peaks, and in peaks of both. */
int64_t cov_peaks_bases(const struct cov_peaks *p);
int64_t cov_peaks_shared(const struct cov_peaks *a, const struct cov_peaks *b);

#endif
