/* bigwig.h - tracks as bigWig (version 4), written while the intervals come.
 *
 * Blocks of bedGraph type, zlib, up to ten zoom levels. All contigs are in the header, with or
 * without values. Values are 32-bit floats: whole numbers are exact up to 2^24. Kent et al.,
 * "BigWig and BigBed: enabling browsing of large distributed datasets" (2010), supplement.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_H
#define COV_TRACK_FORMATS_BIGWIG_H

#include "common/base/pool.h"
#include "common/track/sink.h"

struct cov_bigwig_options {
    struct cov_pool *pool; /* compresses; NULL: the caller does. Borrowed until cov_track_free */
    const char *tmpdir;    /* where zoom levels lie meanwhile; NULL: the folder of the output */
};

/* Writes to the regular file `path`, created or truncated; `name` is what messages call it. Borrows
 * name and contigs until cov_track_free. COV_EINPUT names a contig of 2^32 bases or more, which the
 * format cannot hold; that of an announced contig comes from cov_track_end_contig. Memory: some 40
 * bytes for each 1024 intervals and some 100 for a contig. cov_track_close reads the file back:
 * COV_EIO when its header, contigs, extremes or a sample of the intervals are not what was written.
 * The bytes do not depend on the pool, of which the caller may be a worker. */
int cov_bigwig_open(const char *path, const char *name, const struct cov_track_contigs *contigs,
                    const struct cov_bigwig_options *options, struct cov_track_sink **out,
                    struct cov_err *e) COV_MUST_USE;

#endif
