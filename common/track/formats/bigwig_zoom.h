/* bigwig_zoom.h - computes sums over windows of a track, for the zoom levels of bigWig, while the
 * intervals are written.
 *
 * Level k has windows of 8 * 4^k bases that begin at multiples of their size. Each level is
 * computed from the windows of the next lower active level, so all levels together cost only a
 * third more than the lowest one. A level becomes active when a contig is longer than one window of
 * the level below. The lowest level is dropped when it has too many windows for the number of
 * intervals.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_ZOOM_H
#define COV_TRACK_FORMATS_BIGWIG_ZOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Windows of the last level have 2^31 bases. */
enum { COV_ZOOM_LEVELS = 15, COV_ZOOM_MAX_CHOSEN = 10 };

/* Sums over the bases with a value in a window; [beg, end) is from the first to the last such
 * base. */
struct cov_zoom_sums {
    uint32_t beg, end, n_bases;
    float min, max;
    double sum, sum_squares;
};

struct cov_zoom_out {
    /* Receives the next window of a level, in order of contig and position. */
    int (*window)(void *arg, size_t level, uint32_t contig, const struct cov_zoom_sums *sums,
                  struct cov_err *e);
    /* Starts level `level` > 0. Its windows so far are the same as those of level - 1. */
    int (*begin)(void *arg, size_t level, struct cov_err *e);
    void *arg;
};

struct cov_zoom {
    struct cov_zoom_out out;
    size_t first, n_active; /* levels first .. n_active-1 are active */
    uint32_t contig;
    uint64_t n_intervals, n_contigs;
    struct cov_zoom_level {
        uint32_t window;           /* number of the open window */
        struct cov_zoom_sums sums; /* n_bases = 0: no open window */
        uint64_t n_windows;        /* windows passed on, or taken over from the level below */
    } levels[COV_ZOOM_LEVELS];
};

void cov_zoom_init(struct cov_zoom *z, const struct cov_zoom_out *out);

/* Starts a contig, which must have intervals. */
void cov_zoom_begin(struct cov_zoom *z, uint32_t contig);
/* Adds the next interval of the contig: beg < end, finite value. */
int cov_zoom_add(struct cov_zoom *z, uint32_t beg, uint32_t end, float value,
                 struct cov_err *e) COV_MUST_USE;
/* Ends the contig. */
int cov_zoom_end(struct cov_zoom *z, struct cov_err *e) COV_MUST_USE;

/* Returns the bases per window. */
uint32_t cov_zoom_reduction(size_t level);

/* Call it after the last contig: lists the levels worth keeping in levels[], ascending, at least
 * one if there are intervals; returns their number. */
size_t cov_zoom_choose(const struct cov_zoom *z, size_t levels[COV_ZOOM_MAX_CHOSEN]);

#endif
