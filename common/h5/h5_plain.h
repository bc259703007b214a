/* h5_plain.h - for benchmarks: reads the bases of a genome file as h5py does, with only libhdf5 and
 * its own filters.
 * SPDX-License-Identifier: MIT */
#ifndef COV_H5_H5_PLAIN_H
#define COV_H5_H5_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_h5_plain;

/* Opens data/X, float16 [N, L, 4], and sets *n_rows to N and *L. To be used in one thread, like all
 * of libhdf5. */
int cov_h5_plain_open(const char *path, struct cov_h5_plain **out, size_t *n_rows, size_t *L,
                      struct cov_err *e) COV_MUST_USE;
void cov_h5_plain_close(struct cov_h5_plain *p); /* NULL is accepted */

/* Reads a row into halves[L, 4]. */
int cov_h5_plain_read(struct cov_h5_plain *p, size_t row, uint16_t *halves,
                      struct cov_err *e) COV_MUST_USE;

#endif
