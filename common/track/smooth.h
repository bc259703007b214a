/* smooth.h - smoothing along a contig, as a stream: moving mean, or Gaussian.
 *
 * The centred moving mean is
 *
 *   out[i] = sum(x[i-l] .. x[i+r]) / w,   r = floor((w-1)/2), l = w-1-r,   x = 0 outside the contig
 *
 * which is numpy.convolve(x, ones(w)/w, mode="same"). Predmoter's convert2coverage computes it in
 * pieces; here a contig is one piece, without seams. The Gaussian is
 *
 *   out[i] = sum over |j| <= r of w[j] x[i+j],   r = floor(4 SD + 1/2),   x = 0 outside the contig
 *   w[j] = exp(-j^2 / (2 SD^2)), divided by their sum
 *
 * which is scipy.ndimage.gaussian_filter1d(x, SD, mode="constant").
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_SMOOTH_H
#define COV_TRACK_SMOOTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Rounds to the nearest integer, half to even. x must be finite. */
static inline double cov_round_half_even(double x)
{
    /* In a sum above 2^52 the unit of the last place is 1, so the addition itself rounds half to
     * even. */
    const double big = 4503599627370496.0; /* 2^52 */
    double size = x < 0 ? -x : x;
    if (!(size < big))
        return x;
    size = (size + big) - big;
    return x < 0 ? -size : size;
}

/* ---- moving mean ---- */

enum { COV_SMOOTH_MAX_WINDOW = 1000000 };

/* With `round`, inputs are integers below 2^53 / w; the mean is exact and rounded to the nearest
 * integer. For ties, numpy's result depends on its rounding errors. To get Predmoter's result,
 * values in windows of up to 1024 bases are added in the order that numpy uses on AVX2 CPUs; for
 * wider windows, ties go to the even integer. Memory: 16 bytes per base of the window. */
struct cov_moving_mean {
    size_t w, r;
    bool round;         /* outputs are integers */
    size_t n_in, n_out; /* values of the contig that were read and written */
    size_t n_taken;     /* n_in, and the zeros after the end */
    size_t at;          /* index in the current block of w */
    double head;        /* sum of the current block up to `at` */
    double *tails;      /* suffix sums of the previous block. Owned */
    float *x, *before;  /* values of the current and the previous block. Owned */
};

/* ---- Gaussian ---- */

enum { COV_GAUSS_MAX_SD = 10000, COV_GAUSS_BLOCK = 32 };

/* Bases beg .. end-1 of the contig have the same value. */
struct cov_gauss_run {
    int64_t beg, end;
    float value;
};

/* Sums are doubles, computed run by run. So the cost per base is the number of runs in its window,
 * and constant stretches keep their value exactly. Memory: 20 bytes per base of the window for each
 * table, and at most as much again for values. */
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

/* ---- either ---- */

/* Which smoothing to use; at most one of the two. */
struct cov_smoothing {
    int64_t window; /* window of the moving mean; 0: none */
    double sd;      /* standard deviation of the Gaussian; 0: none */
};

/* Parses "gauss:SD". `what` is the prefix of the message of COV_EUSAGE. */
int cov_smoothing_parse(const char *text, const char *what, struct cov_smoothing *s,
                        struct cov_err *e) COV_MUST_USE;

/* An all-zero struct does not smooth: `smooths` is false, and only init and fini may be called. */
struct cov_smoother {
    bool smooths;
    bool is_gauss;
    struct cov_moving_mean mean; /* one of the two is used */
    struct cov_gauss gauss;
};

/* 1 <= window <= COV_SMOOTH_MAX_WINDOW, or 0 < sd <= COV_GAUSS_MAX_SD. `round`: inputs of the mean,
 * and results, are integers. Free with cov_smoother_fini. */
int cov_smoother_init(struct cov_smoother *s, const struct cov_smoothing *wanted, bool round,
                      struct cov_err *e) COV_MUST_USE;
void cov_smoother_fini(struct cov_smoother *s);

/* Starts a contig. */
void cov_smoother_begin(struct cov_smoother *s);

/* Adds the next n values and writes the outputs that are complete, at most n, to out[], which may
 * be `values`; returns their number. Results do not depend on how the values are split. */
size_t cov_smoother_add(struct cov_smoother *s, const float *values, size_t n, float *out);

/* Ends the contig: writes the next remaining outputs, at most n; returns their number, 0 when all
 * have been written. */
size_t cov_smoother_end(struct cov_smoother *s, float *out, size_t n);

#endif
