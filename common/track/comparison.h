/* comparison.h - how well one track agrees with another, per contig and in total: correlations
 * in bins, and what peaks share.
 *
 * Bins begin at base 0 of each contig; the value of one is the mean, as a float, over its bases
 * that have a value in both tracks, and bins without any are left out. In total means over all
 * bins, or peaks, of all contigs at once.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_COMPARISON_H
#define COV_TRACK_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/track/agreement.h"
#include "common/track/interval_store.h"
#include "common/track/sink.h"

struct cov_comparison_options {
    const int64_t *bin_sizes; /* each > 0 */
    size_t n_bin_sizes;       /* > 0 */
    bool has_threshold;       /* peaks are compared */
    float threshold;
    bool has_lengths[2]; /* whether lengths of contigs are known: of the track, of the measured one;
                            else a contig ends where its intervals do */
    size_t max_bytes;    /* memory for counting pairs */
    const char *dir;     /* for temporary files */
    struct cov_pool *pool; /* NULL: the caller does it all */
};

/* Counts of one contig, or of all. */
struct cov_peak_counts {
    size_t n, n_measured;                /* peaks */
    int64_t bases, bases_measured, both; /* that both tracks have, in peaks of each, and of both */
};

struct cov_comparison_row {
    size_t contig;                    /* of the sink; SIZE_MAX: all */
    int64_t bases;                    /* that have a value in both */
    struct cov_agreement *agreements; /* of each bin size. Owned by the comparison */
    struct cov_peak_counts peaks;     /* zero without a threshold */
};

/* NAN where there is nothing to divide by. */
double cov_peak_precision(const struct cov_peak_counts *c); /* both / bases */
double cov_peak_recall(const struct cov_peak_counts *c);    /* both / bases_measured */
double cov_peak_f1(const struct cov_peak_counts *c);        /* harmonic mean: 2 both / their sum */

struct cov_comparison;

/* A comparison with `measured`, which is closed (borrowed until free, as are the options and
 * what they point to, `name`, which messages call the track that will come, and its contigs: see
 * cov_track_init). */
int cov_comparison_new(const char *name, const struct cov_track_contigs *contigs,
                       struct cov_interval_store *measured,
                       const struct cov_comparison_options *options, struct cov_comparison **out,
                       struct cov_err *e) COV_MUST_USE;
void cov_comparison_free(struct cov_comparison *c); /* NULL is accepted */

/* Takes the track, and compares as it comes; the comparison owns it. COV_EINPUT, naming contig and
 * both lengths, where these differ. */
struct cov_track_sink *cov_comparison_sink(struct cov_comparison *c);

/* When the sink has been closed: contigs that are in both, in the order of the track, and all of
 * them. Contigs of the sink, by number, that `measured` lacks; and those of `measured` that the
 * track lacks. */
size_t cov_comparison_n_rows(const struct cov_comparison *c);
const struct cov_comparison_row *cov_comparison_row(const struct cov_comparison *c, size_t i);
const struct cov_comparison_row *cov_comparison_total(const struct cov_comparison *c);
bool cov_comparison_has(const struct cov_comparison *c, size_t contig);
bool cov_comparison_has_measured(const struct cov_comparison *c, size_t contig);

#endif
