/* bigwig_reader.h - reads bigWig files, block by block.
 *
 * Supports versions 1 to 4 in either byte order, and blocks of all three types, compressed or not.
 * Everything that is read is checked. For damage, the error is COV_EINPUT "<path>: ..." with the
 * position. Kent et al., "BigWig and BigBed: enabling browsing of large distributed datasets"
 * (2010), supplement.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_READER_H
#define COV_TRACK_FORMATS_BIGWIG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

struct cov_bigwig_reader;

/* Returns true if these are the first bytes of a bigWig. */
enum { COV_BIGWIG_MAGIC_BYTES = 4 };
bool cov_bigwig_is_magic(const void *bytes);

/* Opens the regular file `path` and reads its contigs. Memory: two blocks, and about 50 bytes per
 * contig plus its name. */
int cov_bigwig_reader_open(const char *path, struct cov_bigwig_reader **out,
                           struct cov_err *e) COV_MUST_USE;
void cov_bigwig_reader_close(struct cov_bigwig_reader *r); /* NULL is accepted */

/* The contigs, with or without intervals, by their numbers in the file. Names are borrowed until
 * close. */
size_t cov_bigwig_reader_n_contigs(const struct cov_bigwig_reader *r);
const char *cov_bigwig_reader_contig(const struct cov_bigwig_reader *r, size_t i);
int64_t cov_bigwig_reader_length(const struct cov_bigwig_reader *r, size_t i);

/* Reads the next *n > 0 intervals, all on one contig, borrowed until the next call. Intervals of a
 * contig are contiguous in the file, ascending, disjoint, not empty and inside the contig; values
 * are finite; intervals of the value NaN are passed over. Returns 1, or 0 at the end, or a failure,
 * after which every call fails. */
int cov_bigwig_reader_next(struct cov_bigwig_reader *r, size_t *contig,
                           const struct cov_interval **iv, size_t *n,
                           struct cov_err *e) COV_MUST_USE;

/* Returns the number of intervals of the value NaN so far. */
uint64_t cov_bigwig_reader_n_gaps(const struct cov_bigwig_reader *r);

#endif
