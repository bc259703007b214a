/* bin_means.h - a sink that computes the means of all bins of a track, contig by contig.
 *
 * Bin i of a contig has bases i * width to (i + 1) * width - 1, as far as the contig goes. Memory:
 * 8 bytes for each bin up to the last value of a contig, and 16 bytes and the name for each contig.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_BIN_MEANS_H
#define COV_TRACK_BIN_MEANS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

/* A contig with values. */
struct cov_bin_contig {
    size_t contig; /* its number in the sink */
    size_t first;  /* its first bin in means[]; the next contig's is the end */
};

/* Free it with cov_track_free of `sink`. */
struct cov_bin_means {
    struct cov_track_sink sink; /* first */
    double *means;              /* [n]: of the bases with a value; NaN if a bin has none. Owned */
    size_t n, cap;
    struct cov_bin_contig *contigs; /* [n_contigs]. Owned */
    size_t n_contigs, cap_contigs;
    /* Private: the current bin. */
    int64_t width, bin, bases;
    double sum;
};

/* Borrows `name` and `contigs` like cov_track_init. Free the sink also after a failure. */
int cov_bin_means_init(struct cov_bin_means *b, int64_t width, const char *name,
                       const struct cov_track_contigs *contigs, struct cov_err *e) COV_MUST_USE;

#endif
