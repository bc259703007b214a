/* agreement.h - computes Pearson's and Spearman's correlations over any number of pairs of values,
 * in any order.
 *
 * Equal pairs are counted and share one entry. If there are more distinct pairs than fit in memory,
 * sorted runs go to a temporary file, and ranks are computed by merging the runs. So memory is
 * bounded, and the result is the same.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_AGREEMENT_H
#define COV_TRACK_MEASURES_AGREEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/file/tmpfile.h"

struct cov_agreement {
    uint64_t n;      /* pairs */
    double pearson;  /* NAN with fewer than two pairs, or if all x or all y are equal */
    double spearman; /* Pearson's r of the ranks; ties get their mean rank. NAN like pearson */
};

/* Moments of weighted pairs: xx, yy and xy are sums of squares and products of the deviations from
 * the means. All zeros: no pairs. */
struct cov_moments {
    double n, mean_x, mean_y, xx, yy, xy;
};

/* Adds the pair (x, y) n > 0 times, or the pairs of other moments. */
void cov_moments_add(struct cov_moments *m, double x, double y, double n);
void cov_moments_merge(struct cov_moments *m, const struct cov_moments *from);
/* NAN like cov_agreement.pearson. */
double cov_moments_pearson(const struct cov_moments *m);

/* A pair of values, mapped to integers in the same order, and its count. Some steps store other
 * values in it. */
struct cov_pair_count {
    uint64_t key, n;
};

/* Private. */
struct cov_sorted_runs {
    struct cov_spool spool;
    struct cov_pairs_run {
        int64_t at;
        size_t n;
    } * runs;
    size_t n, cap;
};

struct cov_pairs {
    /* Private. */
    struct cov_pair_count *table; /* slots; one with n = 0 is empty */
    size_t n_slots, max_slots, cap, used;
    struct cov_sorted_runs runs, ranks;
    uint64_t n;                  /* pairs */
    struct cov_pair_count *room; /* [cap_room]: for sorting */
    size_t cap_room;
};

/* The table uses at most `max_bytes` (at least 64 KB), and sorting three quarters of that in addition.
 * Temporary files are created in `dir`. Free with cov_pairs_fini, which accepts all zeros. */
int cov_pairs_init(struct cov_pairs *p, size_t max_bytes, const char *dir,
                   struct cov_err *e) COV_MUST_USE;
void cov_pairs_fini(struct cov_pairs *p);

/* Adds the pair (x, y), both finite, n times. */
int cov_pairs_add(struct cov_pairs *p, float x, float y, uint64_t n,
                  struct cov_err *e) COV_MUST_USE;

/* Computes *out over all pairs (fewer than 2^43), adds the pairs to `total` (may be NULL), and
 * clears them. Merging needs 2 MB more memory, or 512 bytes for each time that the table was
 * full. */
int cov_pairs_finish(struct cov_pairs *p, struct cov_pairs *total, struct cov_agreement *out,
                     struct cov_err *e) COV_MUST_USE;

#endif
