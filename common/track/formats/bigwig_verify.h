/* bigwig_verify.h - reads a finished bigWig back with an independent reader, libBigWig.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_VERIFY_H
#define COV_TRACK_FORMATS_BIGWIG_VERIFY_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/track/sink.h"

/* An interval to check. */
struct cov_bigwig_sample {
    size_t contig;
    struct cov_interval iv;
};

/* Checks the file at `path`. COV_EIO if it cannot be read, or if its summary, contigs or samples
 * differ from those given to `s`. */
int cov_bigwig_verify(const char *path, const struct cov_track_sink *s,
                      const struct cov_bigwig_sample *samples, size_t n_samples,
                      struct cov_err *e) COV_MUST_USE;

/* libBigWig's version, for --version. */
const char *cov_bigwig_version(void);

#endif
