/* coverage_reader.h - the measured coverage that a genome file has of one prefix, column by column,
 * as it is stored. (signal_file.h gives the mean over columns.)
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_COVERAGE_READER_H
#define COV_STORE_COVERAGE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/store/coverage_writer.h"

struct cov_coverage_reader {
    struct cov_h5 *h5;
    struct cov_h5_set *sets[COV_COVERAGE_SETS]; /* the spliced one may be missing: NULL */
    size_t n_columns, elem_bytes;               /* 0 columns: there is nothing of the prefix */
    char **files;    /* [n_columns]: names of the columns; "" where they are not noted */
    char **settings; /* [n_columns]; "" where they are not noted */
};

/* Opens the genome file of n_rows rows of length L. COV_EINPUT for data sets of another shape, or
 * that are not integers. Free with cov_coverage_reader_close. */
int cov_coverage_reader_open(const char *path, const char *prefix, size_t n_rows, size_t L,
                             struct cov_coverage_reader **out, struct cov_err *e) COV_MUST_USE;
void cov_coverage_reader_close(struct cov_coverage_reader *r); /* NULL is accepted */

/* HDF5's thread: adds what is stored of all columns of row i, of both sets, to *raw. */
int cov_coverage_fetch(struct cov_coverage_reader *r, size_t i, struct cov_blob *raw,
                       struct cov_err *e) COV_MUST_USE;

/* Any thread: values[0..n) = column `col` of a set, from pieces first_piece.. of a fetched row.
 * Zeros where there is no such set. */
int cov_coverage_decode(const struct cov_coverage_reader *r, size_t i, int which, size_t col,
                        size_t n, struct cov_blob *raw, size_t first_piece, int64_t *values,
                        struct cov_err *e) COV_MUST_USE;

#endif
