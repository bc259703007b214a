/* agreement.h - Pearson's and Spearman's correlation of pairs of values that come in any order and
 * number.
 *
 * Pairs are counted: equal ones take no more room than one. When there are more different ones than
 * the room allows, they wait sorted in a temporary file, from which ranks are found by merging: the
 * result is the same, and so is the memory.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_AGREEMENT_H
#define COV_TRACK_AGREEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/tmpfile.h"

/* Of weighted pairs: sums of squares and products are of deviations from the means. All zero:
 * none. */
struct cov_moments {
    double n, mean_x, mean_y, xx, yy, xy;
};

void cov_moments_add(struct cov_moments *m, double x, double y, double n);

/* Pearson's r, NAN when it is not defined: fewer than two pairs, or all x or all y are equal. */
double cov_moments_pearson(const struct cov_moments *m);

struct cov_agreement {
    uint64_t n; /* pairs */
    double pearson;
    double
        spearman; /* Pearson's r of ranks, equal values having their mean rank. Both NAN as above */
};

/* A pair of values (as numbers that ascend with them) and how often it came; other parts of the
 * computation have other things in it. */
struct cov_pair_count {
    uint64_t key, n;
};

/* Space for sorting, for several of struct cov_pairs that are not used at the same time. All
 * zero is an empty one. */
struct cov_pairs_scratch {
    struct cov_pair_count *room;
    size_t cap;
};

void cov_pairs_scratch_fini(struct cov_pairs_scratch *s);

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
    struct cov_pair_count *table; /* slots; n = 0 is an empty one */
    size_t n_slots, max_slots, cap, used;
    struct cov_sorted_runs runs, ranks;
    uint64_t n; /* pairs */
    struct cov_pairs_scratch *scratch;
};

/* The table takes `max_bytes` at most (64 KB at least), the scratch (borrowed until the end)
 * three quarters of that at most. Temporary files will be in `dir`. Free with cov_pairs_fini,
 * which is harmless on an empty one (all zero). */
int cov_pairs_init(struct cov_pairs *p, size_t max_bytes, const char *dir,
                   struct cov_pairs_scratch *scratch, struct cov_err *e) COV_MUST_USE;
void cov_pairs_fini(struct cov_pairs *p);

/* The pair (x, y), finite, n times. */
int cov_pairs_add(struct cov_pairs *p, float x, float y, uint64_t n,
                  struct cov_err *e) COV_MUST_USE;

/* *out = the agreement of all pairs, which are added to `total` (may be NULL) and forgotten.
 * Fewer than 2^43 pairs. Memory besides: of what waits in files, 2 MB, or 512 bytes for each
 * time that the table was full. */
int cov_pairs_finish(struct cov_pairs *p, struct cov_pairs *total, struct cov_agreement *out,
                     struct cov_err *e) COV_MUST_USE;

#endif
