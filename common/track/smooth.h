/* smooth.h - smoothing along a contig, as a stream: moving mean, or Gaussian (gauss.h).
 *
 *   out[i] = sum(x[i-l] .. x[i+r]) / w,   r = floor((w-1)/2), l = w-1-r,   x = 0 beyond the ends
 *
 * which is numpy.convolve(x, ones(w)/w, mode="same"), and what Predmoter's convert2coverage does
 * within its pieces. Here a contig is one piece: there are no seams.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_SMOOTH_H
#define COV_TRACK_SMOOTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/gauss.h"

/* ---- moving mean ---- */

enum { COV_SMOOTH_MAX_WINDOW = 1000000 };

struct cov_smooth {
    size_t w, r;
    bool round;         /* outputs are integers */
    size_t n_in, n_out; /* values of the contig that came in and went out */
    size_t n_taken;     /* n_in and the zeros behind the end */
    size_t at;          /* place in the current block of w */
    double head;        /* sum of the current block up to `at` */
    double *tails;      /* sums of the block before, from each place to its end. Owned */
    float *x, *before;  /* values of the current block and of the one before. Owned */
};

/* 1 <= window <= COV_SMOOTH_MAX_WINDOW. With `round` inputs are whole numbers below 2^53 / window,
 * and the mean is exact and then rounded. It is rounded to the nearest integer; where it lies
 * halfway between two of them, numpy's result hangs on how the errors of its sum fall: windows up
 * to 1024 are then added in the order in which numpy does it on AVX2 processors, so that the result
 * is Predmoter's there too. Otherwise halves go to the even integer. Memory: 16 bytes a base of the
 * window. Free with cov_smooth_fini. */
int cov_smooth_init(struct cov_smooth *s, size_t window, bool round,
                    struct cov_err *e) COV_MUST_USE;
void cov_smooth_fini(struct cov_smooth *s);

/* Begins a contig. */
void cov_smooth_begin(struct cov_smooth *s);

/* Takes the next n values and writes to out[] those that are determined by now, at most n; returns
 * how many. `out` may be `values`. The results do not depend on how the values are cut into
 * pieces. */
size_t cov_smooth_add(struct cov_smooth *s, const float *values, size_t n, float *out);

/* The contig ends here: writes the next of the values that are left, at most n; returns how many, 0
 * when as many came out as went in. */
size_t cov_smooth_end(struct cov_smooth *s, float *out, size_t n);

/* ---- either ---- */

/* What is wanted: one of the two, or neither. */
struct cov_smoothing {
    int64_t window; /* of the moving mean; 0: none */
    double sd;      /* of the Gaussian; 0: none */
};

/* Reads "gauss:SD". `what` stands in front of the error, which is COV_EUSAGE. */
int cov_smoothing_parse(const char *text, const char *what, struct cov_smoothing *s,
                        struct cov_err *e) COV_MUST_USE;

/* What is added to names of files: "", "_ws=150", "_smooth=2.5". */
enum { COV_SMOOTHING_TAIL = 64 };
void cov_smoothing_tail(const struct cov_smoothing *s, char tail[COV_SMOOTHING_TAIL]);

/* All zero does not smooth: `smooths` is false, and none of the functions below may be called but
 * init and fini. */
struct cov_smoother {
    bool smooths;
    bool is_gauss;
    struct cov_smooth mean; /* one of the two is used */
    struct cov_gauss gauss;
};

/* `round`: values are whole numbers, and results are to be. As the init, fini, begin, add and end
 * of smooth.h and gauss.h; each takes what comes as a contig of its own from begin to end. */
int cov_smoother_init(struct cov_smoother *s, const struct cov_smoothing *wanted, bool round,
                      struct cov_err *e) COV_MUST_USE;
void cov_smoother_fini(struct cov_smoother *s);
void cov_smoother_begin(struct cov_smoother *s);
size_t cov_smoother_add(struct cov_smoother *s, const float *values, size_t n, float *out);
size_t cov_smoother_end(struct cov_smoother *s, float *out, size_t n);

#endif
