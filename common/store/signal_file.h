/* signal_file.h - signal along a genome in HDF5: Predmoter's predictions files
 * (prediction/predictions), and the measured coverage in genome files
 * (evaluation/<prefix>_coverage).
 *
 * As in chunk_file.h one thread touches HDF5, any thread encodes and decodes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_SIGNAL_FILE_H
#define COV_STORE_SIGNAL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/codec/codec.h"
#include "common/seq/grid.h"
#include "common/store/chunk_head.h"

/* Value of a position that is padding. */
#define COV_SIGNAL_PAD (-1.0f)

/* An attribute of prediction/predictions where only regions were predicted: then COV_SIGNAL_PAD
 * within a chunk means that there is no value. */
#define COV_SIGNAL_REGIONS_ATTR "outside_regions"
/* Attributes of predictions beside it: which regions, as a fingerprint; bases that windows
 * shared. */
#define COV_SIGNAL_WHICH_ATTR "regions"
#define COV_SIGNAL_OVERLAP_ATTR "overlap"

/* ---- reading ---- */

enum cov_signal_kind { COV_SIGNAL_PREDICTED, COV_SIGNAL_MEASURED };

struct cov_signal_file;

/* Opens for reading and checks the layout (as cov_chunk_file_open). PREDICTED: one data set per
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
/* Whether only regions were predicted, so that bases may have no value: COV_SIGNAL_PAD. */
bool cov_signal_file_has_gaps(const struct cov_signal_file *f);
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
 * value before the end of the chunk, but for the gaps between regions. */
int cov_signal_file_decode(const struct cov_signal_file *f, size_t i, const size_t *ks, size_t n_ks,
                           struct cov_blob *raw, float *values, struct cov_err *e) COV_MUST_USE;

/* ---- the same from rows of elements, as chunk files and the chunk stream have them ---- */

/* Where the values of a data set are: columns [col, col + n_cols) of set `set` of a head. */
struct cov_signal_part {
    char *name; /* "atacseq" */
    size_t set, col, n_cols;
};

/* The data sets of this kind in a head, as cov_signal_file_open finds them: *n of them in
 * (*parts)[]. COV_EINPUT, the text naming the data set, not the input. Free with
 * cov_signal_free_parts. */
int cov_signal_find_parts(const struct cov_chunk_head *head, enum cov_signal_kind kind,
                          struct cov_signal_part **parts, size_t *n,
                          struct cov_err *e) COV_MUST_USE;
void cov_signal_free_parts(struct cov_signal_part *parts, size_t n);

/* Columns [col, col + n_cols) of rows elems[L][n_columns]. */
struct cov_signal_columns {
    const struct cov_h5_type *type;
    size_t n_columns, col, n_cols;
    bool gaps; /* COV_SIGNAL_PAD within a chunk is valid */
};

/* values[0..L) of a chunk of `length` bases from its row `elems`, as by cov_signal_file_decode. Returns
 * `length`, or the index of the first value that is not a valid coverage. */
size_t cov_signal_means(const struct cov_signal_columns *columns, const uint8_t *elems,
                        size_t length, size_t L, float *values) COV_MUST_USE;

/* ---- writing predictions ---- */

enum cov_signal_type { COV_SIGNAL_INT16, COV_SIGNAL_INT32, COV_SIGNAL_INT64, COV_SIGNAL_FLOAT32 };

struct cov_predictions_options {
    const char *model_name;      /* prediction/model_name */
    const char *const *datasets; /* prediction/datasets, in the model's order */
    size_t n_datasets;           /* D > 0 */
    enum cov_signal_type type;
    struct cov_codec_choice compression;
    bool has_regions; /* what is outside of them is COV_SIGNAL_PAD, which an attribute says */
    uint64_t regions; /* their fingerprint, another attribute */
    size_t overlap;   /* bases that windows shared, an attribute unless 0 */
};

/* What a predictions file of chunks of L holds: the data set prediction/predictions, and the
 * tables model_name and datasets, of Predmoter's widths or as wide as they need (with a
 * warning). Free with cov_chunk_head_fini. */
int cov_predictions_head(size_t L, const struct cov_predictions_options *options,
                         struct cov_chunk_head *out, struct cov_err *e) COV_MUST_USE;

/* Any thread: elems[L][D], a row of that data set `set`, = values[L][D] of the chunk, already rounded
 * unless the type is FLOAT32, padding as COV_SIGNAL_PAD. COV_EINPUT names sequence (`name`) and position
 * of a value that does not fit the type, is NaN or infinite. `chunk->seq` is not used. */
int cov_signal_pack(const struct cov_chunk_set *set, const float *values, const char *name,
                    const struct cov_chunk *chunk, uint8_t *elems, struct cov_err *e) COV_MUST_USE;

#endif
