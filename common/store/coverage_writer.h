/* coverage_writer.h - adds measured coverage to a genome file, as Helixer's add_ngs_coverage does:
 * evaluation/<prefix>_coverage and _spliced_coverage, integers [N, L, B], one column a BAM file,
 * and the files' names in <prefix>_meta/bam_files.
 *
 * The file is changed where it is: it should be a copy.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_COVERAGE_WRITER_H
#define COV_STORE_COVERAGE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"

enum { COV_COVERAGE, COV_SPLICED, COV_COVERAGE_SETS };

/* "evaluation/<prefix>_coverage" or _spliced_coverage. Caller frees. */
char *cov_coverage_set_name(const char *prefix, int which, struct cov_err *e) COV_MUST_USE;

struct cov_coverage_options {
    const char *prefix;
    size_t n_rows, L;
    size_t n_columns;            /* B */
    const char *const *files;    /* [B]: names of the columns */
    const char *const *settings; /* [B]: how each was counted; kept as an attribute, a line each */
    size_t elem_bytes;           /* of a value: 2, 4 or 8 */
};

struct cov_coverage_writer;

/* Opens the file at `path`, removes what it has of this prefix, and makes the new data sets. */
int cov_coverage_writer_new(const char *path, const struct cov_coverage_options *options,
                            struct cov_coverage_writer **out, struct cov_err *e) COV_MUST_USE;

/* HDF5's thread: stores row i from 2 B pieces (coverage_codec.h): the columns of the coverage, then
 * of the spliced. */
int cov_coverage_put(struct cov_coverage_writer *w, size_t i, const struct cov_blob *blob,
                     size_t first_piece, struct cov_err *e) COV_MUST_USE;

/* Flushes and closes; frees *w in any case. */
int cov_coverage_writer_close(struct cov_coverage_writer *w, struct cov_err *e) COV_MUST_USE;
void cov_coverage_writer_abort(struct cov_coverage_writer *w); /* NULL is accepted */

#endif
