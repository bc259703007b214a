/* loss.h - how well values fit measured coverage: Predmoter's loss and accuracy.
 *
 * A row is one dataset of a chunk, over the positions that are bases; v is the network's value
 * exp(p), and t is the target.
 *   loss     = mean over positions of v - t p       (Poisson, without terms in t alone)
 *   accuracy = Pearson's r of v and t, with 1e-8 added to its denominator
 * Sums are in double, in a fixed order.
 * SPDX-License-Identifier: MIT */
#ifndef COV_NET_LOSS_H
#define COV_NET_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* A row, or several joined into one long row. All zero: no positions. */
struct cov_fit {
    uint64_t n;                 /* positions */
    double loss;                /* sum of v - t p */
    double mean_v, mean_t;      /* means */
    double var_v, var_t, covar; /* sums of dv^2, dt^2, dv dt; dv = v - mean_v, dt = t - mean_t */
};

/* Computes the fit of values[n] to targets[n], both `stride` apart, except masked positions
 * (targets below 0). p = log(v); values below the smallest normal float are raised to it. */
void cov_fit_row(const float *values, const float *targets, size_t n, size_t stride,
                 struct cov_fit *out);
/* Adds the positions of another fit. */
void cov_fit_merge(struct cov_fit *to, const struct cov_fit *from);
double cov_fit_loss(const struct cov_fit *f);    /* mean over positions; n > 0 */
double cov_fit_pearson(const struct cov_fit *f); /* n > 0 */

/* Means over rows. All zero: no rows. */
struct cov_score {
    uint64_t n_rows;
    double loss, weights; /* sum of each row's loss times its weight, and sum of the weights */
    double accuracy;      /* sum */
    struct cov_fit all;   /* the positions of all rows, as one row */
};

/* Adds a row with at least one position. `weight` applies to its loss. */
void cov_score_add(struct cov_score *s, const struct cov_fit *row, double weight);
/* Means over the rows; NaN without rows. */
double cov_score_loss(const struct cov_score *s);
double cov_score_accuracy(const struct cov_score *s);
/* Pearson's r over all positions; NaN without positions. */
double cov_score_pearson_all(const struct cov_score *s);

#endif
