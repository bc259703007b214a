/* bigwig_zoom.h - sums over windows of a track, for bigWig's zoom levels, while its intervals pass.
 *
 * Level k has windows of 8 * 4^k bases that begin at multiples of that. A level is made from the
 * windows of the level below it that is kept, so that the work is a third more than that of one
 * level. Levels begin and end with the data: a level is active as soon as some contig is longer
 * than one window of the level below, and the lowest one is given up as soon as it has too many
 * windows for the number of intervals.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_ZOOM_H
#define COV_TRACK_FORMATS_BIGWIG_ZOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Windows of the last level are 2^31 bases. */
enum { COV_ZOOM_LEVELS = 15, COV_ZOOM_MAX_CHOSEN = 10 };

/* Over the bases of a window that an interval covers: from the first to behind the last of them,
 * and how many. */
struct cov_zoom_sums {
    uint32_t beg, end, n_bases;
    float min, max;
    double sum, sum_squares;
};

struct cov_zoom_out {
    /* The next window of a level, in order of contig and position. */
    int (*window)(void *arg, size_t level, uint32_t contig, const struct cov_zoom_sums *sums,
                  struct cov_err *e);
    /* Level `level` > 0 begins: its windows so far are those that level - 1 has had so far. */
    int (*begin)(void *arg, size_t level, struct cov_err *e);
    void *arg;
};

struct cov_zoom {
    struct cov_zoom_out out;
    size_t first, n_active; /* levels first .. n_active-1 are being made */
    uint32_t contig;
    uint64_t n_intervals, n_contigs;
    struct cov_zoom_level {
        uint32_t window;           /* its number, if there is one */
        struct cov_zoom_sums sums; /* n_bases = 0: no window is open */
        uint64_t n_windows;        /* handed on, or taken over from the level below */
    } levels[COV_ZOOM_LEVELS];
};

void cov_zoom_init(struct cov_zoom *z, const struct cov_zoom_out *out);

/* Begins a contig, which must have intervals. */
void cov_zoom_begin(struct cov_zoom *z, uint32_t contig);
/* The next interval of the contig: beg < end, the value finite. */
int cov_zoom_add(struct cov_zoom *z, uint32_t beg, uint32_t end, float value,
                 struct cov_err *e) COV_MUST_USE;
/* The contig ends. */
int cov_zoom_end(struct cov_zoom *z, struct cov_err *e) COV_MUST_USE;

/* Bases of a window. */
uint32_t cov_zoom_reduction(size_t level);

/* After the last contig: which levels are worth keeping, in levels[] ascending, at least one if
 * there was an interval; returns how many. */
size_t cov_zoom_choose(const struct cov_zoom *z, size_t levels[COV_ZOOM_MAX_CHOSEN]);

#endif
