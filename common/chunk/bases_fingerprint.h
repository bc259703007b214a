/* bases_fingerprint.h - fingerprints of the bases from which the rows of a predictions file were
 * predicted.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_BASES_FINGERPRINT_H
#define COV_CHUNK_BASES_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/fingerprint.h"
#include "common/h5/h5.h"

/* The dataset of a predictions file that holds them: a uint64 for each row. */
#define COV_BASES_FINGERPRINT_SET "data/bases_fingerprint"

/* Returns the fingerprint of a row: of codes[0..n), in the direction of its strand, without
 * padding. */
static inline uint64_t cov_bases_fingerprint(const uint8_t *codes, size_t n)
{
    return cov_fingerprint(0, codes, n);
}

/* Sets *out to the fingerprints in a file of n rows; NULL if it has none. Caller frees. */
int cov_bases_fingerprints_read(struct cov_h5 *f, size_t n, uint64_t **out,
                                struct cov_err *e) COV_MUST_USE;

#endif
