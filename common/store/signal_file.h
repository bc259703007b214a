/* signal_file.h - signal along a genome in HDF5: Predmoter's predictions files
 * (prediction/predictions), and measured coverage in genome files (evaluation/<prefix>_coverage).
 *
 * As in chunk_file.h, HDF5 belongs to one thread, and any thread may encode and decode.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_SIGNAL_FILE_H
#define COV_STORE_SIGNAL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/seq/grid.h"
#include "common/store/chunk_head.h"

/* Value of padding. */
#define COV_SIGNAL_PAD (-1.0f)

/* ---- reading ---- */

enum cov_signal_kind { COV_SIGNAL_PREDICTED, COV_SIGNAL_MEASURED };

struct cov_h5;
struct cov_signal_file;

/* Opens for reading and checks the layout, like cov_chunk_file_open. PREDICTED: one data set per
 * name in prediction/datasets. MEASURED: one per evaluation/<prefix>_coverage (not the spliced
 * ones), sorted by name. Errors name the file and the data set; if the file is of the wrong kind,
 * they also tell its actual kind. */
int cov_signal_file_open(const char *path, enum cov_signal_kind kind, struct cov_signal_file **out,
                         struct cov_err *e) COV_MUST_USE;
void cov_signal_file_close(struct cov_signal_file *f); /* NULL is accepted */

/* Borrowed until close. */
const struct cov_grid *cov_signal_file_grid(const struct cov_signal_file *f);
size_t cov_signal_file_n_datasets(const struct cov_signal_file *f);
/* "atacseq". Borrowed until close. */
const char *cov_signal_file_dataset(const struct cov_signal_file *f, size_t k);
/* Returns true if only regions were predicted. The value of a base outside them is
 * COV_SIGNAL_PAD. */
bool cov_signal_file_has_gaps(const struct cov_signal_file *f);
/* Returns true if data set k is stored unrounded. */
bool cov_signal_file_is_float(const struct cov_signal_file *f, size_t k);
/* Number of columns (BAM files) of data set k, whose mean is the signal. */
size_t cov_signal_file_n_columns(const struct cov_signal_file *f, size_t k);

/* Adds each column of data set k as a data set, after all others: see cov_signal_split_part. */
int cov_signal_file_split(struct cov_signal_file *f, size_t k, struct cov_err *e) COV_MUST_USE;

/* The open HDF5 file, for its attributes and other data sets. Borrowed until close. */
struct cov_h5 *cov_signal_file_h5(const struct cov_signal_file *f);

/* HDF5's thread: fetches the stored bytes of row i of the data sets ks[0..n_ks) into *raw, which is
 * cleared first. */
int cov_signal_file_fetch(struct cov_signal_file *f, size_t i, const size_t *ks, size_t n_ks,
                          struct cov_blob *raw, struct cov_err *e) COV_MUST_USE;

/* Any thread: sets values[n_ks][L] to the values of the fetched row, in the chunk's own direction
 * (start to end). If a data set has several columns (BAM files), the value is their unrounded mean,
 * computed in double. Values past the end of the chunk are set to COV_SIGNAL_PAD, whatever is
 * stored there. The pieces in *raw are kept; the space after them is used as scratch. COV_EINPUT
 * for damaged compression, and for NaN, infinite or negative values before the end of the chunk,
 * except gaps between regions. */
int cov_signal_file_decode(const struct cov_signal_file *f, size_t i, const size_t *ks, size_t n_ks,
                           struct cov_blob *raw, float *values, struct cov_err *e) COV_MUST_USE;

/* ---- the same from rows of chunk files and the chunk stream ---- */

/* A data set: columns [col, col + n_cols) of set `set` of a head. */
struct cov_signal_part {
    char *name; /* "atacseq" */
    size_t set, col, n_cols;
};

/* Finds the *n data sets of this kind in a head, as cov_signal_file_open does, and describes them
 * in (*parts)[]. The message of COV_EINPUT names the data set, not the input. Free with
 * cov_signal_free_parts. */
int cov_signal_find_parts(const struct cov_chunk_head *head, enum cov_signal_kind kind,
                          struct cov_signal_part **parts, size_t *n,
                          struct cov_err *e) COV_MUST_USE;
void cov_signal_free_parts(struct cov_signal_part *parts, size_t n);

/* Appends each column of part k to the list *parts of *n. Its name is that of the part, "_", and
 * that of its file without folder and suffix, or its number from 1 if these do not differ or
 * `files` is NULL. `files` is the table cov_signal_files_table; COV_EINPUT if it does not fit. */
int cov_signal_split_part(struct cov_signal_part **parts, size_t *n, size_t k,
                          const struct cov_chunk_table *files, struct cov_err *e) COV_MUST_USE;

/* Returns the name of the table with the file of each column of a data set. Caller frees; NULL: out
 * of memory. */
char *cov_signal_files_table(const char *dataset, struct cov_err *e);

/* Columns [col, col + n_cols) of rows elems[L][n_columns]. */
struct cov_signal_columns {
    const struct cov_h5_type *type;
    size_t n_columns, col, n_cols;
    bool gaps; /* COV_SIGNAL_PAD within a chunk is valid */
};

/* Computes values[0..L) of a chunk of `length` bases from its row `elems`, like
 * cov_signal_file_decode. Returns `length`, or the index of the first value that is not a valid
 * coverage. */
size_t cov_signal_means(const struct cov_signal_columns *columns, const uint8_t *elems,
                        size_t length, size_t L, float *values) COV_MUST_USE;

#endif
