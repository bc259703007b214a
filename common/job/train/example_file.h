/* example_file.h - a genome file with measured coverage, row by row as bases and targets: what a network
 * is trained on or evaluated with.
 *
 * Targets are Predmoter's: the mean over the columns (BAM files) of a data set, rounded to two
 * decimals as numpy rounds float32. One thread fetches, any thread decodes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_EXAMPLE_FILE_H
#define COV_JOB_TRAIN_EXAMPLE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/seq/grid.h"

struct cov_example_file;

/* Opens `path`, with targets of datasets[0..n_datasets) (borrowed until close; those it lacks have
 * none). COV_EINPUT for a file without bases or any measured coverage. With `blacklist`, rows are
 * dropped where data/blacklist is 0; a warning says if the file has none. */
int cov_example_file_open(const char *path, const char *const *datasets, size_t n_datasets,
                          bool blacklist, struct cov_example_file **out,
                          struct cov_err *e) COV_MUST_USE;
void cov_example_file_close(struct cov_example_file *f); /* NULL is accepted */

/* Borrowed until close. */
const char *cov_example_file_path(const struct cov_example_file *f);
const struct cov_grid *cov_example_file_grid(const struct cov_example_file *f);
/* [n_datasets]: whether the file has it. */
const bool *cov_example_file_present(const struct cov_example_file *f);
/* The data sets that are in it, whatever was asked for, with commas between. Borrowed until close. */
const char *cov_example_file_datasets(const struct cov_example_file *f);
/* Whether the blacklist drops row i. */
bool cov_example_file_drops(const struct cov_example_file *f, size_t i);

/* HDF5's thread: *raw = what is stored of row i. */
int cov_example_file_fetch(struct cov_example_file *f, size_t i, struct cov_blob *raw,
                           struct cov_err *e) COV_MUST_USE;

/* Bytes of scratch for decoding. */
size_t cov_example_file_scratch(const struct cov_example_file *f);

/* Any thread: codes[L], targets[L, n_datasets] of the fetched row, in its own direction; 0 behind its
 * end and of data sets that the file lacks. */
int cov_example_file_decode(const struct cov_example_file *f, size_t i, struct cov_blob *raw,
                            uint8_t *scratch, uint8_t *codes, float *targets,
                            struct cov_err *e) COV_MUST_USE;

/* Whether Predmoter takes codes[0..n) for a gap: the largest value in the column of C is 0.25, that of
 * N. */
bool cov_example_is_gap(const uint8_t *codes, size_t n);

#endif
