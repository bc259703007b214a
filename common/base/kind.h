/* kind.h - what a file is by its first bytes, for those who were given another one than they need.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_KIND_H
#define COV_BASE_KIND_H

#include <stddef.h>

enum cov_kind {
    COV_KIND_UNKNOWN,
    COV_KIND_BAM,
    COV_KIND_CRAM,
    COV_KIND_SAM,
    COV_KIND_FASTA,
    COV_KIND_HDF5,
    COV_KIND_BIGWIG,
    COV_KIND_BIGBED,
    COV_KIND_STREAM, /* covstream(5) */
    COV_KIND_CKPT,
    COV_KIND_ZIP,
    COV_KIND_GZIP, /* of what is none of these */
};

/* "a BAM file"; NULL of COV_KIND_UNKNOWN. */
const char *cov_kind_name(enum cov_kind kind);

/* Of a file that begins with these bytes, unpacked where it is gzip. A checkpoint is known by some 64 bytes. */
enum cov_kind cov_kind_of(const void *bytes, size_t n);

#endif
