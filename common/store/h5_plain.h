/* h5_plain.h - the bases of a genome file row by row through libhdf5 alone, filters included: as h5py
 * does it, for comparison.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_H5_PLAIN_H
#define COV_STORE_H5_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_h5_plain;

/* Opens data/X, [N, L, 4] of halves. One thread, as all of libhdf5. Free with cov_h5_plain_close. */
int cov_h5_plain_open(const char *path, struct cov_h5_plain **out, struct cov_err *e) COV_MUST_USE;
/* Opens a genome file to change it: data/X is replaced by an empty one of the same size that libhdf5
 * compresses as Helixer has it, by shuffle and zlib's level 4. */
int cov_h5_plain_open_anew(const char *path, struct cov_h5_plain **out,
                           struct cov_err *e) COV_MUST_USE;

size_t cov_h5_plain_n_rows(const struct cov_h5_plain *p);
size_t cov_h5_plain_length(const struct cov_h5_plain *p); /* L */

/* halves[L, 4] = row, or row = halves[L, 4]. */
int cov_h5_plain_read(struct cov_h5_plain *p, size_t row, uint16_t *halves,
                      struct cov_err *e) COV_MUST_USE;
int cov_h5_plain_write(struct cov_h5_plain *p, size_t row, const uint16_t *halves,
                       struct cov_err *e) COV_MUST_USE;

/* Frees *p in any case; the status matters for a file that was changed. NULL is accepted. */
int cov_h5_plain_close(struct cov_h5_plain *p, struct cov_err *e);

#endif
