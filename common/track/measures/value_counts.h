/* value_counts.h - counts the bases of each value of a track, and how many of them are positive, and
 * finds quantiles.
 *
 * Memory is bounded: if a track has too many different values, values that are close to each other
 * share a count. The counts are those of the smallest of these values, so that the number of bases
 * at or above it stays exact.
 *
 * cov_spread is a sink that does this for a whole track.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_VALUE_COUNTS_H
#define COV_TRACK_MEASURES_VALUE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

/* ---- counts ---- */

struct cov_value_count {
    uint64_t n, n_positive; /* bases; n > 0 */
    float value;
    uint32_t key; /* private */
};

struct cov_value_counts {
    size_t n; /* different values */
    /* Private. */
    size_t max;
    unsigned shift; /* bits of a key that are ignored */
    uint32_t n_slots;
    struct cov_value_count *slots; /* [n_slots]; a slot with n = 0 is empty. Owned */
    struct cov_value_count *room;  /* [max + 1]. Owned */
};

/* Counts up to `max` different values exactly, at least 4096. With the default, values that share a
 * count differ by at most 0.2 %; with 4096, by at most 13 %, or 0.8 % if all are between 1/1000 and
 * 100,000. Memory: 72 bytes per value. Free with cov_value_counts_fini, which accepts all zeros. */
enum { COV_VALUE_COUNTS = 1 << 18 };
int cov_value_counts_init(struct cov_value_counts *c, size_t max, struct cov_err *e) COV_MUST_USE;
void cov_value_counts_fini(struct cov_value_counts *c);

/* Adds n > 0 bases with this finite value. The result does not depend on the order. */
void cov_value_counts_add(struct cov_value_counts *c, float value, uint64_t n, uint64_t n_positive);

/* Returns the c->n counts, by descending value. Ends the counting. */
const struct cov_value_count *cov_value_counts_sort(struct cov_value_counts *c);

/* ---- the values of a whole track ---- */

/* Bases whose values are at least `value`, and less than the next step's. */
struct cov_spread_step {
    double value;
    uint64_t n;
};

/* A sink that counts the bases of each value. Memory is bounded by COV_VALUE_COUNTS: with more
 * different values, quantiles can be up to 0.2 % too small. Everything else is exact. Free it with
 * cov_track_free of `sink`. */
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
