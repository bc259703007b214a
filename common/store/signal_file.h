/* signal_file.h - signal along a genome in HDF5: Predmoter's predictions files
 * (prediction/predictions), and the measured coverage in genome files
 * (evaluation/<prefix>_coverage).
 *
 * As in genome_file.h one thread touches HDF5, any thread encodes and decodes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_SIGNAL_FILE_H
#define COV_STORE_SIGNAL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/codec/codec.h"
#include "common/seq/grid.h"

/* Value of a position that is padding. */
#define COV_SIGNAL_PAD (-1.0f)

/* ---- reading ---- */

enum cov_signal_kind { COV_SIGNAL_PREDICTED, COV_SIGNAL_MEASURED };

struct cov_signal_file;

/* Opens for reading and checks the layout (as cov_genome_file_open). PREDICTED: one data set per
 * name in prediction/datasets. MEASURED: one per evaluation/<prefix>_coverage (not the spliced
 * ones), in the order of names. Errors name file and data set, and say which kind the file holds
 * instead, if it does. */
int cov_signal_file_open(const char *path, enum cov_signal_kind kind, struct cov_signal_file **out,
                         struct cov_err *e) COV_MUST_USE;
void cov_signal_file_close(struct cov_signal_file *f); /* NULL is accepted */

/* Borrowed until close. */
const struct cov_grid *cov_signal_file_grid(const struct cov_signal_file *f);
size_t cov_signal_file_n_datasets(const struct cov_signal_file *f);
/* "atacseq". Borrowed until close. */
const char *cov_signal_file_dataset(const struct cov_signal_file *f, size_t k);
/* Whether it is stored unrounded. */
bool cov_signal_file_is_float(const struct cov_signal_file *f, size_t k);

/* HDF5's thread: fetches the stored bytes of row i of the data sets ks[0..n_ks) into *raw, which is
 * reused. */
int cov_signal_file_fetch(struct cov_signal_file *f, size_t i, const size_t *ks, size_t n_ks,
                          struct cov_blob *raw, struct cov_err *e) COV_MUST_USE;

/* Any thread: values[n_ks][L] of the fetched row in the chunk's own direction (start to end), as
 * float; where a data set has several columns (BAM files), their mean in double, unrounded.
 * COV_SIGNAL_PAD behind the end of the chunk, whatever is stored there. *raw serves as scratch
 * behind its pieces, which stay. COV_EINPUT for damaged compression, NaN or infinity, a negative
 * value before the end of the chunk. */
int cov_signal_file_decode(const struct cov_signal_file *f, size_t i, const size_t *ks, size_t n_ks,
                           struct cov_blob *raw, float *values, struct cov_err *e) COV_MUST_USE;

/* ---- writing predictions ---- */

enum cov_signal_type { COV_SIGNAL_INT16, COV_SIGNAL_INT32, COV_SIGNAL_INT64, COV_SIGNAL_FLOAT32 };

struct cov_predictions_options {
    const char *model_name;      /* prediction/model_name */
    const char *const *datasets; /* prediction/datasets, in the model's order */
    size_t n_datasets;           /* D > 0 */
    enum cov_signal_type type;
    struct cov_codec_choice compression;
};

struct cov_predictions_writer;

/* Creates the file at `path` (an outfile's temporary name) with all metadata (FORMATS: Predmoter's
 * predictions file). `grid` is borrowed until close. Byte for byte the same for the same grid,
 * options and values put in the same order: no time, no path of the input. */
int cov_predictions_writer_new(const char *path, const struct cov_grid *grid,
                               const struct cov_predictions_options *options,
                               struct cov_predictions_writer **out, struct cov_err *e) COV_MUST_USE;

/* Any thread: values[L][D] of chunk i, padding as COV_SIGNAL_PAD, already rounded unless the type
 * is FLOAT32. COV_EINPUT naming sequence and position for a value that does not fit the type, is
 * NaN or infinite. *out is reused and is all the scratch there is. */
int cov_predictions_writer_encode(const struct cov_predictions_writer *w, size_t i,
                                  const float *values, struct cov_blob *out,
                                  struct cov_err *e) COV_MUST_USE;

/* HDF5's thread: every chunk once, in any order. */
int cov_predictions_writer_put(struct cov_predictions_writer *w, size_t i,
                               const struct cov_blob *blob, struct cov_err *e) COV_MUST_USE;

/* Flushes and closes; frees *w in any case. */
int cov_predictions_writer_close(struct cov_predictions_writer *w, struct cov_err *e) COV_MUST_USE;
void cov_predictions_writer_abort(struct cov_predictions_writer *w); /* NULL is accepted */

#endif
