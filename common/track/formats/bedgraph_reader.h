/* bedgraph_reader.h - reads bedGraph: contig, beg, end, value; 0-based, half-open, separated by
 * tabs or blanks.
 *
 * Skips blank lines, and lines that begin with '#' or the word `track` or `browser`. Any other line
 * must be data; otherwise the error is "<path>:<line>: ..." (COV_EINPUT).
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BEDGRAPH_READER_H
#define COV_TRACK_FORMATS_BEDGRAPH_READER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/file/bgz.h"
#include "common/track/sink.h"

struct cov_bedgraph_reader;

/* Reads an open stream that has not been read. Takes ownership of `in`, even on failure. Memory:
 * 1.5 MB, and the names of the contigs. */
int cov_bedgraph_reader_new(struct cov_bgz *in, struct cov_bedgraph_reader **out,
                            struct cov_err *e) COV_MUST_USE;
void cov_bedgraph_reader_close(struct cov_bedgraph_reader *r); /* NULL is accepted */

/* The contigs read so far, in order. Names are borrowed until the next call of
 * cov_bedgraph_reader_next. */
size_t cov_bedgraph_reader_n_contigs(const struct cov_bedgraph_reader *r);
const char *cov_bedgraph_reader_contig(const struct cov_bedgraph_reader *r, size_t i);

/* Reads the next *n > 0 intervals, all on one contig, and their line numbers; borrowed until the
 * next call. Intervals of a contig are contiguous in the file, ascending, disjoint and not empty;
 * values are finite (the nearest double, as a float); intervals of the value nan are passed over.
 * Returns 1, or 0 at the end, or a failure, after which every call fails. */
int cov_bedgraph_reader_next(struct cov_bedgraph_reader *r, size_t *contig,
                             const struct cov_interval **iv, const size_t **lines, size_t *n,
                             struct cov_err *e) COV_MUST_USE;

/* Returns the number of intervals of the value nan so far. */
uint64_t cov_bedgraph_reader_n_gaps(const struct cov_bedgraph_reader *r);

#endif
