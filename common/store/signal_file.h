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
#include "common/codec/codec.h"
#include "common/seq/grid.h"
#include "common/store/chunk_head.h"

/* Value of padding. */
#define COV_SIGNAL_PAD (-1.0f)

/* This attribute of prediction/predictions exists if only regions were predicted. In that case
 * COV_SIGNAL_PAD within a chunk means that a base has no value. */
#define COV_SIGNAL_REGIONS_ATTR "outside_regions"
/* Further attributes: the fingerprint of the regions, and the number of bases that neighbouring
 * windows share. */
#define COV_SIGNAL_WHICH_ATTR "regions"
#define COV_SIGNAL_OVERLAP_ATTR "overlap"

/* This set of a predictions file has, for each row, the fingerprint of the bases from which it was
 * predicted (bases_fingerprint.h): a uint64. */
#define COV_SIGNAL_BASES_SET "data/bases_fingerprint"

/* File attributes that say how predictions were made. */
#define COV_MADE_TOOL "tool"
#define COV_MADE_COMMAND "command"
#define COV_MADE_PRECISION "precision"
#define COV_MADE_DEVICE "device"
#define COV_MADE_MODEL "model_sha256"

/* Returns true if both heads have COV_MADE_MODEL; the names of the models then do not matter. */
bool cov_made_by_known_models(const struct cov_chunk_head *a, const struct cov_chunk_head *b);
/* Returns true if COV_MADE_COMMAND is the same, except for the name of the model if both models are
 * known. */
bool cov_made_with_same_options(const struct cov_chunk_head *a, const struct cov_chunk_head *b);

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

/* ---- writing predictions ---- */

enum cov_signal_type { COV_SIGNAL_INT16, COV_SIGNAL_INT32, COV_SIGNAL_INT64, COV_SIGNAL_FLOAT32 };

struct cov_predictions_options {
    const char *model_name;      /* prediction/model_name */
    const char *const *datasets; /* prediction/datasets, in the model's order */
    size_t n_datasets;           /* D > 0 */
    enum cov_signal_type type;
    struct cov_codec_choice compression;
    bool has_regions;  /* positions outside them are COV_SIGNAL_PAD, as recorded in an attribute */
    uint64_t regions;  /* fingerprint of the regions, another attribute */
    size_t overlap;    /* bases shared by windows, an attribute unless 0 */
    const char *shard; /* COV_SHARD_ATTR; NULL: none */
    struct cov_predictions_made {
        const char *tool, *command, *precision, *device, *model_sha256;
    } made; /* COV_MADE_*; NULL: no such attribute */
};

/* Makes the head of a predictions file with chunks of L bases. It has the set
 * prediction/predictions and the tables model_name and datasets, whose strings are as wide as
 * Predmoter's. If a string needs more, the table is wider and a warning is given. Free with
 * cov_chunk_head_fini. */
int cov_predictions_head(size_t L, const struct cov_predictions_options *options,
                         struct cov_chunk_head *out, struct cov_err *e) COV_MUST_USE;

/* Any thread: converts values[L][D] of the chunk to elems[L][D], a row of the data set `set`. The
 * values must be rounded already, unless the type is FLOAT32, and padding must be COV_SIGNAL_PAD.
 * COV_EINPUT, with the sequence (`name`) and position, for a value that is NaN or infinite or does
 * not fit the type. `chunk->seq` is not used. */
int cov_signal_pack(const struct cov_chunk_set *set, const float *values, const char *name,
                    const struct cov_chunk *chunk, uint8_t *elems, struct cov_err *e) COV_MUST_USE;

#endif
