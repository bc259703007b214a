/* bigwig.h - writes tracks as bigWig (version 4) while the intervals arrive.
 *
 * Files have blocks of type bedGraph, compressed with zlib, and up to ten zoom levels. The header
 * lists all contigs, even those without values. Values are 32-bit floats: integers are exact up to
 * 2^24. Kent et al., "BigWig and BigBed: enabling browsing of large distributed datasets" (2010),
 * supplement.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_H
#define COV_TRACK_FORMATS_BIGWIG_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/base/pool.h"
#include "common/track/sink.h"

struct cov_bigwig_options {
    struct cov_pool *pool; /* compresses; NULL: the calling thread compresses. Borrowed until
                            * cov_track_free */
    const char *tmpdir;    /* directory for zoom levels until the end; NULL: the directory of the
                            * output */
};

/* Creates or truncates the regular file `path`; `name` is for messages. Borrows name and contigs
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

#endif
