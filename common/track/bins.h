/* bins.h - a sink that keeps the means of a region, for pictures.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_BINS_H
#define COV_TRACK_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/select.h"
#include "common/track/sink.h"

/* Bin i is of the bases beg + i*width .. beg + (i+1)*width-1, as far as they are before `end`. */
struct cov_bins {
    const char *contig;
    int64_t beg, end, width;
    size_t n;
    const double *means; /* over the bases that have a value; NaN where none has */
};

/* A sink for the bases that `range` (borrowed until free) means, in at most `most` bins. Borrows
 * name and contigs as cov_track_init; contigs may be NULL, and so announced. */
int cov_bins_new(const struct cov_range *range, size_t most, const char *name,
                 const struct cov_track_contigs *contigs, struct cov_track_sink **out,
                 struct cov_err *e) COV_MUST_USE;

/* The bases of a range in a track. */
struct cov_bins_extent {
    const char *contig; /* borrowed from the sink */
    int64_t beg, end;
};

/* Whether the range's sequence is in the list of contigs, or has come. */
bool cov_bins_found(const struct cov_track_sink *sink);

/* Of a sink that cov_bins_new made and that has a list of contigs or was closed: what its range
 * is. `has_lengths`: contigs are as long as they say, and what goes beyond is cut off; else they
 * end where their intervals do, and the range is as it is. COV_EUSAGE, naming the track, when
 * the range's sequence is not there, or ends before it. */
int cov_bins_extent(const struct cov_track_sink *sink, bool has_lengths,
                    struct cov_bins_extent *out, struct cov_err *e) COV_MUST_USE;

/* What it counts by: how many bases a bin has is a multiple of that, a power of two; at most an
 * eighth of what `most` bins would have between the begin of the range and the last value. */
int64_t cov_bins_unit(const struct cov_track_sink *sink);

/* Of a sink that cov_bins_new made and that was closed: the means in `x`, which may be the extent
 * of another track; without values where it has nothing there. Bins are as narrow as they can be
 * for `most` of them, in multiples of `unit`: the largest of the units of all sinks that are to
 * have bins of one width. Borrowed until free. */
void cov_bins_get(struct cov_track_sink *sink, const struct cov_bins_extent *x, int64_t unit,
                  struct cov_bins *out);

#endif
