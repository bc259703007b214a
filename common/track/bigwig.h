/* bigwig.h - tracks as bigWig, through libBigWig.
 *
 * Blocks of bedGraph type, zlib, up to ten zoom levels. All contigs are in the header, with or
 * without values. Values are 32-bit floats: whole numbers are exact up to 2^24.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_BIGWIG_H
#define COV_TRACK_BIGWIG_H

#include "common/track/sink.h"

/* Writes to the regular file `path`, created or truncated; `name` is what messages call it. Borrows
 * name and contigs until cov_track_free. COV_EINPUT names a contig of 2^32 bases or more, which the
 * format cannot hold. cov_track_close reads the file back: COV_EIO when its header, contigs,
 * extremes or a sample of the intervals are not what was written. */
int cov_bigwig_open(const char *path, const char *name, const struct cov_track_contigs *contigs,
                    struct cov_track_sink **out, struct cov_err *e) COV_MUST_USE;

/* libBigWig's version, for --version. */
const char *cov_bigwig_version(void);

#endif
