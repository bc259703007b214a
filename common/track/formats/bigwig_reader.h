/* bigwig_reader.h - reads bigWig files, block by block.
 *
 * Versions 1 to 4 of the format in either byte order, blocks of all three types, compressed or not.
 * Nothing that a file says is believed: damage is COV_EINPUT "<path>: ..." with its place. Kent et
 * al., "BigWig and BigBed: enabling browsing of large distributed datasets" (2010), supplement.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_READER_H
#define COV_TRACK_FORMATS_BIGWIG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

struct cov_bigwig_reader;

/* Whether a file that begins with these bytes is a bigWig, or says so. */
enum { COV_BIGWIG_MAGIC_BYTES = 4 };
bool cov_bigwig_is_magic(const void *bytes);

/* Opens the regular file `path` and reads its contigs. Memory: two blocks, and some 50 bytes a
 * contig besides its name. */
int cov_bigwig_reader_open(const char *path, struct cov_bigwig_reader **out,
                           struct cov_err *e) COV_MUST_USE;
void cov_bigwig_reader_close(struct cov_bigwig_reader *r); /* NULL is accepted */

/* The contigs, with or without intervals, by their numbers in the file. Names until close. */
size_t cov_bigwig_reader_n_contigs(const struct cov_bigwig_reader *r);
const char *cov_bigwig_reader_contig(const struct cov_bigwig_reader *r, size_t i);
int64_t cov_bigwig_reader_length(const struct cov_bigwig_reader *r, size_t i);

/* The intervals that come next are those of all contigs in the order of the file, as after opening,
 * or those of one. */
void cov_bigwig_reader_rewind(struct cov_bigwig_reader *r);
void cov_bigwig_reader_seek(struct cov_bigwig_reader *r, size_t contig);

/* The next intervals: *n > 0 of them, of one contig, borrowed until the next call. Those of a
 * contig come together, ascend and do not overlap; they lie within it and are not empty; their
 * values are finite. Returns 1, 0 at the end, or a failure, after which every call fails. */
int cov_bigwig_reader_next(struct cov_bigwig_reader *r, size_t *contig,
                           const struct cov_interval **iv, size_t *n,
                           struct cov_err *e) COV_MUST_USE;

#endif
