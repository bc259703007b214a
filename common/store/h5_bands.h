/* h5_bands.h - rows of a chunked HDF5 data set, decoded band by band: a band is the rows that share
 * chunks.
 *
 * For rows that are read in order, or in two places side by side, as the strands of a sequence are:
 * two bands are kept.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_H5_BANDS_H
#define COV_STORE_H5_BANDS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/store/h5_rows.h"

enum { COV_H5_N_BANDS = 2 };

struct cov_h5_bands {
    struct {
        uint8_t *rows; /* [chunk[0]][dims[1]][dims[2]]; NULL: nothing is there */
        size_t index;  /* row / chunk[0] */
        unsigned long used;
    } bands[COV_H5_N_BANDS];
    unsigned long clock;
    struct cov_blob raw;
    const char *path, *name; /* of file and data set, for messages. Borrowed */
};

/* All zero but path and name is an empty one. */
void cov_h5_bands_fini(struct cov_h5_bands *b);

/* Adds the stored chunks of all columns of the band of `row` to *raw. */
typedef int cov_h5_fetch_fn(void *arg, size_t row, struct cov_blob *raw, struct cov_err *e);

/* *elems = row `row` [dims[1]][dims[2]], until the next call; fetched and decoded if need be.
 * `rows` are chunked. */
int cov_h5_bands_row(struct cov_h5_bands *b, const struct cov_h5_rows *rows, size_t row,
                     cov_h5_fetch_fn *fetch, void *arg, const uint8_t **elems,
                     struct cov_err *e) COV_MUST_USE;

#endif
