/* npz.h - an array of floats as NumPy's savez writes it: a zip archive whose entry arr_0.npy is an
 * array in NumPy's format, version 1.0.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_NPZ_H
#define COV_JOB_EFFECT_NPZ_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_npz {
    uint8_t *bytes; /* the head and the values. Owned */
    size_t n_head, n_bytes;
};

/* Makes an array [dims[0], dims[1], dims[2]]. Free with cov_npz_fini. */
int cov_npz_init(struct cov_npz *z, const size_t dims[3], struct cov_err *e) COV_MUST_USE;
void cov_npz_fini(struct cov_npz *z); /* safe on zeros */

/* The values, row-major, to be set by the caller. */
float *cov_npz_values(const struct cov_npz *z);

/* Writes the file; the same values give the same bytes. */
int cov_npz_write(const struct cov_npz *z, const char *path, struct cov_err *e) COV_MUST_USE;

#endif
