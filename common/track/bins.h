/* bins.h - a sink that keeps the means of a region, for pictures.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_BINS_H
#define COV_TRACK_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/range.h"
#include "common/track/sink.h"

/* Bin i is of the bases beg + i*width .. beg + (i+1)*width-1, as far as they are before `end`. */
struct cov_bins {
    const char *contig;
    int64_t beg, end, width;
    size_t n;
    const double *means; /* over the bases that have a value; NaN where none has */
};

/* A sink for the bases that `range` (borrowed until free) means, in at most `most` bins: of one base, or
 * of as many as it takes; where the end is not known before the data, of powers of two. Borrows name
 * and contigs as cov_track_init; contigs may be NULL, and so announced. COV_EUSAGE for a range that the contigs do not have. */
int cov_bins_open(const struct cov_range *range, size_t most, const char *name,
                  const struct cov_track_contigs *contigs, struct cov_track_sink **out,
                  struct cov_err *e) COV_MUST_USE;

/* Of a sink that cov_bins_open made and that was closed: what it holds, borrowed until free.
 * COV_EUSAGE when the range's sequence did not come, or ended before it. */
int cov_bins_get(struct cov_track_sink *sink, struct cov_bins *out, struct cov_err *e) COV_MUST_USE;

#endif
