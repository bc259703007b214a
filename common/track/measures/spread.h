/* spread.h - a sink that counts the bases of each value of a track, and finds quartiles.
 *
 * Memory is bounded as that of value_counts.h: with more than 262,144 different values, quantiles
 * can be up to 0.2 % too small. Everything else is exact.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_SPREAD_H
#define COV_TRACK_MEASURES_SPREAD_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/measures/value_counts.h"
#include "common/track/sink.h"

/* Bases whose values are at least `value`, and less than the next step's. */
struct cov_spread_step {
    double value;
    uint64_t n;
};

/* Free it with cov_track_free of `sink`. */
struct cov_spread {
    struct cov_track_sink sink; /* first */
    struct cov_value_counts counts;
    /* By cov_spread_finish. */
    uint64_t n_zero;                      /* bases whose value is 0 */
    const struct cov_value_count *sorted; /* [counts.n], by descending value */
};

/* Borrows `name` and `contigs` like cov_track_init. Free the sink also after a failure. */
int cov_spread_init(struct cov_spread *s, const char *name, const struct cov_track_contigs *contigs,
                    struct cov_err *e) COV_MUST_USE;

/* Call it once, after the sink was closed. */
void cov_spread_finish(struct cov_spread *s);

/* Returns the quantile q, 0 to 1: linear between the ranks on both sides of q * (n - 1), as in
 * numpy.percentile. NaN if no base has a value. */
double cov_spread_quantile(const struct cov_spread *s, double q);

/* Counts the bases of each step of width `step`, from a multiple of it on. Empty steps are left
 * out. Caller frees *out, which ascends. */
int cov_spread_steps(const struct cov_spread *s, double step, struct cov_spread_step **out,
                     size_t *n, struct cov_err *e) COV_MUST_USE;

#endif
