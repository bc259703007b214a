/* bigwig.h - writes tracks as bigWig (version 4) while the intervals arrive, and reads bigWig files
 * block by block.
 *
 * Kent et al., "BigWig and BigBed: enabling browsing of large distributed datasets" (2010),
 * supplement.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_H
#define COV_TRACK_FORMATS_BIGWIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/track/sink.h"

/* ---- writing ---- */

struct cov_bigwig_options {
    struct cov_pool *pool; /* compresses; NULL: the calling thread compresses. Borrowed until
                            * cov_track_free */
    const char *tmpdir;    /* directory for zoom levels until the end; NULL: the directory of the
                            * output */
};

/* Creates or truncates the regular file `path`, which gets blocks of type bedGraph, compressed with
 * zlib, and up to ten zoom levels. The header lists all contigs, even those without values. Values
 * are 32-bit floats: integers are exact up to 2^24. `name` is for messages. Borrows name and contigs
 * until cov_track_free. COV_EINPUT for a contig of 2^32 bases or more, which the format does not
 * support; for an announced contig, it is cov_track_end_contig that fails. Memory: about 40 bytes
 * per 1024 intervals and 100 per contig. cov_track_close reads the file back: COV_EIO if its
 * header, contigs, extremes or a sample of the intervals differ. The bytes do not depend on the
 * pool. The caller may be a worker of the pool. */
int cov_bigwig_open(const char *path, const char *name, const struct cov_track_contigs *contigs,
                    const struct cov_bigwig_options *options, struct cov_track_sink **out,
                    struct cov_err *e) COV_MUST_USE;

/* An interval to check. */
struct cov_bigwig_sample {
    size_t contig;
    struct cov_interval iv;
};

/* Reads the finished file at `path` back with an independent reader, libBigWig, as cov_track_close
 * does. COV_EIO if it cannot be read, or if its summary, contigs or samples differ from those given
 * to `s`. */
int cov_bigwig_verify(const char *path, const struct cov_track_sink *s,
                      const struct cov_bigwig_sample *samples, size_t n_samples,
                      struct cov_err *e) COV_MUST_USE;

/* libBigWig's version, for --version. */
const char *cov_bigwig_version(void);

/* ---- reading (bigwig_reader.c) ---- */

struct cov_bigwig_reader;

/* Returns true if these are the first bytes of a bigWig. */
enum { COV_BIGWIG_MAGIC_BYTES = 4 };
bool cov_bigwig_is_magic(const void *bytes);

/* Opens the regular file `path` and reads its contigs. Supports versions 1 to 4 in either byte order,
 * and blocks of all three types, compressed or not. Everything that is read is checked; for damage,
 * the error is COV_EINPUT "<path>: ..." with the position. Memory: two blocks, and about 50 bytes per
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
