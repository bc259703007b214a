/* gauss.h - Gaussian smoothing along a contig, as a stream.
 *
 *   out[i] = sum over |j| <= r of w[j] x[i+j],   r = floor(4 SD + 1/2),   x = 0 beyond the ends
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
#include "common/track/gauss_sums.h"

enum { COV_GAUSS_MAX_SD = 10000 };

struct cov_gauss {
    size_t r;
    bool round;                 /* outputs are integers */
    cov_gauss_sums_fn *sums_fn; /* chosen for this CPU */
    /* The places j of the kernel in descending order, from r+BLOCK on; both go on with what they
     * are at their ends. */
    double *weights; /* w[j]. Owned */
    double *sums;    /* of w[-r] .. w[j-1]. Owned */
    int64_t n_in, n_out;
    bool at_end;
    struct cov_gauss_run *runs;     /* what a window may still need, as it came in. Owned */
    size_t n_runs, cap_runs, first; /* those before `first` are needed no more */
    /* Values that are ready and have not gone out. */
    float ready[COV_GAUSS_BLOCK];
    size_t n_ready, at_ready;
};

/* 0 < sd <= COV_GAUSS_MAX_SD. With `round` results are rounded to the nearest integer. Sums are of
 * doubles, one run of equal values after the other: the cost of a base is that of the runs in its
 * window, and equal values stay what they are. Memory: 20 bytes for each base of the window in each
 * of its tables, and at most as much again of values. Free with cov_gauss_fini. */
int cov_gauss_init(struct cov_gauss *g, double sd, bool round, struct cov_err *e) COV_MUST_USE;
void cov_gauss_fini(struct cov_gauss *g);

/* Begins a contig. */
void cov_gauss_begin(struct cov_gauss *g);

/* Takes the next n values and writes to out[] those that are determined by now, at most n; returns
 * how many. `out` may be `values`. The results do not depend on how the values are cut into
 * pieces. */
size_t cov_gauss_add(struct cov_gauss *g, const float *values, size_t n, float *out);

/* The contig ends here: writes the next of the values that are left, at most n; returns how many, 0
 * when as many came out as went in. */
size_t cov_gauss_end(struct cov_gauss *g, float *out, size_t n);

#endif
