/* smoother.h - one interface over the ways of smoothing: moving mean (smooth.h), Gaussian
 * (gauss.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_SMOOTHER_H
#define COV_TRACK_SMOOTHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/gauss.h"
#include "common/track/smooth.h"

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
