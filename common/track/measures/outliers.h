/* outliers.h - finds the places of a genome whose measured coverage is so high that they decide
 * Pearson's r of two tracks, such as rDNA, other collapsed repeats, and organelles.
 *
 * The contigs are cut into windows. "High" is the value below which COV_OUTLIER_SHARE of the bases
 * lie. A contig of at least COV_OUTLIER_CONTIG bases is an outlier if the median of the means of
 * its windows is more than
 *   COV_OUTLIER_FACTOR times the median of these medians, and
 *   COV_OUTLIER_CONTIG_FACTOR times what is high in the windows of contigs below the first limit.
 * So an organelle does not raise its own limit, a repeat does not condemn its chromosome, and a
 * contig with peaks is no outlier. A window of the other contigs is an outlier if its sum is more
 * than COV_OUTLIER_FACTOR times what is high among theirs. Sums are compared, not means: a peak in
 * a short window at the end of a contig is no outlier. Medians and shares are weighted by bases.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_OUTLIERS_H
#define COV_TRACK_MEASURES_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/text.h"
#include "common/track/measures/agreement.h"

enum {
    COV_OUTLIER_WINDOW = 10000,
    COV_OUTLIER_CONTIG = 3 * COV_OUTLIER_WINDOW,
    COV_OUTLIER_FACTOR = 5
};
#define COV_OUTLIER_SHARE 0.95
#define COV_OUTLIER_CONTIG_FACTOR 1.5
/* Worth a warning: r with and without the outliers differ by more than this. */
#define COV_OUTLIER_CHANGE 0.02

/* Adjacent windows, or a contig with outliers in more than half of its bases. */
struct cov_outlier {
    size_t contig;
    bool is_whole;
    int64_t beg, end; /* 0-based; a multiple of the window, so `end` may exceed the contig */
    double mean;      /* measured coverage of its bases */
};

/* All zero: empty. Free with cov_outliers_fini. */
struct cov_outliers {
    int64_t window;            /* set by the caller; 0: COV_OUTLIER_WINDOW */
    struct cov_outlier *found; /* in the order of contigs and positions */
    size_t n_found;
    double pearson, pearson_without; /* of all bases, and of those outside the outliers */
    /* Private. */
    struct cov_outlier_window {
        size_t contig;
        int64_t i;
        struct cov_moments pairs;
        bool is_outlier;
    } * windows;
    size_t n_windows, cap_windows, cap_found;
};

/* Adds bases [beg, end) of a contig, where the track is x and the measured track y. Contigs must
 * not interleave, and positions ascend within one. */
int cov_outliers_add(struct cov_outliers *o, size_t contig, int64_t beg, int64_t end, double x,
                     double y, struct cov_err *e) COV_MUST_USE;

/* Adds the pairs of a part of the window that begins at `beg`; in any order. */
int cov_outliers_add_part(struct cov_outliers *o, size_t contig, int64_t beg,
                          const struct cov_moments *pairs, struct cov_err *e) COV_MUST_USE;

/* After all bases: sets found[], pearson and pearson_without. */
int cov_outliers_find(struct cov_outliers *o, struct cov_err *e) COV_MUST_USE;
void cov_outliers_fini(struct cov_outliers *o);

/* Returns the end of an outlier within its contig, whose length may be 0: unknown. */
int64_t cov_outlier_end(const struct cov_outlier *o, int64_t length);
/* Adds its place to a list. */
void cov_outlier_list(const struct cov_outlier *o, const char *contig, int64_t length,
                      struct cov_listing *regions);
/* Warns if r differs enough from r without these regions. `about` names the tracks, "m.h5: atacseq";
 * `unit` what the pairs are, "base"; `advice` is what to do. */
void cov_outliers_warn(const char *about, const char *unit, double pearson, double pearson_without,
                       const struct cov_listing *regions, const char *advice);

#endif
