/* bins.h - sinks that compute means of bins: those of a region, for plots, and all of a track.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_BINS_H
#define COV_TRACK_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/regions.h"
#include "common/track/sink.h"

/* ---- a region ---- */

/* Bin i covers bases beg + i*width .. beg + (i+1)*width-1, clipped to `end`. */
struct cov_bins {
    const char *contig;
    int64_t beg, end, width;
    size_t n;
    const double *means; /* over the bases with a value; NaN if there are none */
};

/* Creates a sink for the bases of `range` (borrowed until free), with at most `most` bins. Borrows
 * `name` and `contigs` like cov_track_init; `contigs` is NULL if they are announced. */
int cov_bins_new(const struct cov_range *range, size_t most, const char *name,
                 const struct cov_track_contigs *contigs, struct cov_track_sink **out,
                 struct cov_err *e) COV_MUST_USE;

/* The bases of the range in a track. */
struct cov_bins_extent {
    const char *contig; /* borrowed from the sink */
    int64_t beg, end;
};

/* Returns the length of the range's contig, which is in the list of contigs or has been seen; see
 * cov_track_contig_length. */
int64_t cov_bins_contig_length(const struct cov_track_sink *sink);

/* Finds the extent of the range. The sink must be closed or have a list of contigs. With
 * `has_lengths`, the extent is clipped to the length of the contig; otherwise a contig ends with
 * its last interval, and the range is not clipped. COV_EINPUT, with the name of the track, if the
 * contig is unknown or ends before the range. */
int cov_bins_extent(const struct cov_track_sink *sink, bool has_lengths,
                    struct cov_bins_extent *out, struct cov_err *e) COV_MUST_USE;

/* Computes the bins of *x, which may be the extent of another track, from a closed sink whose range
 * is not longer. Bins without values are NaN. Their width, at most an eighth larger than for `most`
 * bins, depends on the length of *x alone. The result is borrowed until free. */
void cov_bins_get(struct cov_track_sink *sink, const struct cov_bins_extent *x,
                  struct cov_bins *out);

/* ---- a track ---- */

/* A contig with values. */
struct cov_bin_contig {
    size_t contig; /* its number in the sink */
    size_t first;  /* its first bin in means[]; the next contig's is the end */
};

/* The means of all bins, contig by contig. Bin i of a contig has bases i * width to (i + 1) * width
 * - 1, as far as the contig goes. Memory: 8 bytes for each bin up to the last value of a contig, and
 * 16 bytes and the name for each contig. Free it with cov_track_free of `sink`. */
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
