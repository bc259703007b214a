/* h5_plain.h - for benchmarks: reads and writes the bases of a genome file as h5py does, with only
 * libhdf5 and its own filters.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_H5_PLAIN_H
#define COV_STORE_H5_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_h5_plain;

/* Opens data/X, float16 [N, L, 4]. To be used in one thread, like all of libhdf5. Free with
 * cov_h5_plain_close. */
int cov_h5_plain_open(const char *path, struct cov_h5_plain **out, struct cov_err *e) COV_MUST_USE;
/* Opens a genome file to change it: replaces data/X by an empty data set of the same size, which
 * libhdf5 compresses as Helixer does: shuffle and zlib level 4. */
int cov_h5_plain_open_anew(const char *path, struct cov_h5_plain **out,
                           struct cov_err *e) COV_MUST_USE;

size_t cov_h5_plain_n_rows(const struct cov_h5_plain *p);
size_t cov_h5_plain_length(const struct cov_h5_plain *p); /* L */

/* Read a row into halves[L, 4], or write it from there. */
int cov_h5_plain_read(struct cov_h5_plain *p, size_t row, uint16_t *halves,
                      struct cov_err *e) COV_MUST_USE;
int cov_h5_plain_write(struct cov_h5_plain *p, size_t row, const uint16_t *halves,
                       struct cov_err *e) COV_MUST_USE;

/* Always frees *p; check the status if the file was changed. NULL is accepted. */
int cov_h5_plain_close(struct cov_h5_plain *p, struct cov_err *e);

#endif
