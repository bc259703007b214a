/* gauss.h - Gaussian smoothing along a contig, as a stream.
 *
 *   out[i] = sum over |j| <= r of w[j] x[i+j],   r = floor(4 SD + 1/2),   x = 0 outside the contig
 *   w[j] = exp(-j^2 / (2 SD^2)), divided by their sum
 *
 * which is scipy.ndimage.gaussian_filter1d(x, SD, mode="constant").
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_GAUSS_H
#define COV_TRACK_GAUSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

enum { COV_GAUSS_MAX_SD = 10000, COV_GAUSS_BLOCK = 32 };

/* Bases beg .. end-1 of the contig have the same value. */
struct cov_gauss_run {
    int64_t beg, end;
    float value;
};

struct cov_gauss {
    size_t r;
    bool round; /* outputs are integers */
    /* Tables of the elements j of the kernel, in descending order, with j = 0 at index r+BLOCK.
     * Both are padded at each end with the value at that end. */
    double *weights; /* w[j]. Owned */
    double *sums;    /* sums of w[-r] .. w[j-1]. Owned */
    int64_t n_in, n_out;
    bool at_end;
    struct cov_gauss_run *runs;     /* runs that a window may still need. Owned */
    size_t n_runs, cap_runs, first; /* runs before `first` are no longer needed */
    /* Finished values that have not been written yet. */
    float ready[COV_GAUSS_BLOCK];
    size_t n_ready, at_ready;
};

/* 0 < sd <= COV_GAUSS_MAX_SD. With `round`, results are rounded to the nearest integer. Sums are
 * doubles, computed run by run. So the cost per base is the number of runs in its window, and
 * constant stretches keep their value exactly. Memory: 20 bytes per base of the window for each
 * table, and at most as much again for values. Free with cov_gauss_fini. */
int cov_gauss_init(struct cov_gauss *g, double sd, bool round, struct cov_err *e) COV_MUST_USE;
void cov_gauss_fini(struct cov_gauss *g);

/* Starts a contig. */
void cov_gauss_begin(struct cov_gauss *g);

/* Adds the next n values and writes the outputs that are complete, at most n, to out[], which may
 * be `values`; returns their number. Results do not depend on how the values are split. */
size_t cov_gauss_add(struct cov_gauss *g, const float *values, size_t n, float *out);

/* Ends the contig: writes the next remaining outputs, at most n; returns their number, 0 when all
 * have been written. */
size_t cov_gauss_end(struct cov_gauss *g, float *out, size_t n);

#endif
