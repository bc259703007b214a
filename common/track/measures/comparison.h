/* comparison.h - measures how well one track agrees with another, per contig and in total, by
 * correlations of bins and by shared peaks.
 *
 * Bins start at base 0 of each contig. The value of a bin is the mean, as a float, over those of
 * its bases that have a value in both tracks; bins without such bases are skipped. The total covers
 * the bins or peaks of all contigs.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_COMPARISON_H
#define COV_TRACK_MEASURES_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/track/interval_store.h"
#include "common/track/measures/agreement.h"
#include "common/track/measures/outliers.h"
#include "common/track/measures/peaks.h"
#include "common/track/sink.h"

struct cov_comparison_options {
    const int64_t *bin_sizes; /* each > 0 */
    size_t n_bin_sizes;       /* > 0 */
    bool has_peaks;           /* compare peaks, too */
    struct cov_peak_rules peaks;
    float measured_cutoff; /* of measured peaks, instead of peaks.cutoff */
    size_t max_bytes;      /* memory for counting pairs */
    const char *dir;       /* for temporary files */
    struct cov_pool *pool; /* NULL: the calling thread does all the work */
};

/* Results for one contig, or for all. */
struct cov_peak_counts {
    size_t n, n_measured;                /* peaks */
    int64_t bases, bases_measured, both; /* bases with a value in both tracks: in peaks of either
                                          * track, and of both */
    float max, max_measured;             /* the largest values; -INFINITY: none */
};

struct cov_comparison_row {
    size_t contig;                    /* number in the sink; SIZE_MAX: all contigs */
    int64_t bases;                    /* with a value in both tracks */
    struct cov_agreement *agreements; /* per bin size. Owned by the comparison */
    struct cov_peak_counts peaks;     /* none without a threshold */
};

/* NAN if the denominator is 0. */
double cov_peak_precision(const struct cov_peak_counts *c); /* both / bases */
double cov_peak_recall(const struct cov_peak_counts *c);    /* both / bases_measured */
double cov_peak_f1(const struct cov_peak_counts *c);        /* harmonic mean: 2 both / (bases +
                                                             * bases_measured) */

/* A sink that receives the track and compares it. The results are there after it was closed: rows of
 * the contigs that are in both tracks, in the order of the compared track, and of the total. */
struct cov_comparison {
    struct cov_track_sink sink; /* first */
    const struct cov_comparison_options *o;
    struct cov_interval_store *store;
    struct cov_comparison_row *rows; /* [n_rows] */
    size_t n_rows;
    struct cov_comparison_row total;
    struct cov_outliers outliers; /* among the bases that have a value in both tracks */
    /* Private. */
    double denominators[2];
    size_t cap_rows, n_binnings;
    struct cov_comparison_bins *binnings;
    struct cov_comparison_row *current; /* row of the current contig; NULL: the total */
    bool compares;                      /* there is a current contig, and the store has it */
    size_t measured;                    /* its number in the store */
    int64_t bases;
    struct cov_peaks peaks, measured_peaks;
    struct cov_interval_cursor cursor;
    const struct cov_interval
        *iv; /* intervals read from the store, and the rest of the first one */
    size_t n_iv;
    struct cov_interval head;
    struct cov_comparison_stretch *stretches;
    size_t n;
};

/* Creates a comparison with `measured`, which is closed. `name` is the track to compare, for
 * messages; for `contigs` see cov_track_init. denominators[]: the values of the track, and of the
 * measured track, are integers divided by this number; 0: they are not. The integers are correlated,
 * because rounding to floats would make bins of the same sum differ, and thereby change ranks. The
 * sink fails with COV_EINPUT, naming contig and both lengths, if lengths differ. Borrows its arguments,
 * including the objects that the options point to, until free. */
int cov_comparison_new(const char *name, const struct cov_track_contigs *contigs,
                       struct cov_interval_store *measured, const double denominators[2],
                       const struct cov_comparison_options *options, struct cov_comparison **out,
                       struct cov_err *e) COV_MUST_USE;
void cov_comparison_free(struct cov_comparison *c); /* NULL is accepted */

#endif
