/* signal_file.h - reads signal along a genome, in HDF5 files or chunk streams: Predmoter's
 * predictions (prediction/predictions), and measured coverage of genome files
 * (evaluation/<prefix>_coverage).
 *
 * As in chunk_file.h, HDF5 belongs to one thread, and any thread may encode and decode.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SIGNAL_SIGNAL_FILE_H
#define COV_SIGNAL_SIGNAL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/chunk/chunk_head.h"
#include "common/codec/codec.h"
#include "common/file/bgz.h"
#include "common/seq/grid.h"

/* Value of padding. */
#define COV_SIGNAL_PAD (-1.0f)

enum cov_signal_kind { COV_SIGNAL_PREDICTED, COV_SIGNAL_MEASURED };

/* A dataset: columns [col, col + n_cols) of set `set` of a head. The signal is their mean. */
struct cov_signal_part {
    char *name; /* "atacseq" */
    size_t set, col, n_cols;
};

struct cov_chunk_file;
struct cov_h5;
struct cov_stream;

/* Everything is borrowed until close. */
struct cov_signal {
    const char *name;            /* for messages */
    const struct cov_grid *grid; /* NULL: a stream */
    /* All text attributes; of an HDF5 file, only the sets and tables of the signal. */
    const struct cov_chunk_head *head;
    struct cov_signal_part *parts; /* [n_parts] */
    size_t n_parts;
    bool has_gaps;     /* only regions were predicted; other bases have the value COV_SIGNAL_PAD */
    struct cov_h5 *h5; /* NULL: a stream */
    struct cov_stream *records; /* for cov_stream_next; NULL: an HDF5 file */
    /* Private. */
    struct cov_chunk_file *file; /* NULL: a stream */
};

/* Opens a file of chunks or a chunk stream at `path` ("-": standard input), detected by content, or
 * the open stream `in`, from which nothing has been read (NULL: none; owned, even after a failure).
 * PREDICTED: one dataset per name in prediction/datasets. MEASURED: one per
 * evaluation/<prefix>_coverage (not the spliced ones), sorted by name. Errors name the file and the
 * dataset; if the file is of the wrong kind, they also tell its actual kind. */
int cov_signal_open(const char *path, struct cov_bgz *in, enum cov_signal_kind kind,
                    struct cov_signal **out, struct cov_err *e) COV_MUST_USE;
void cov_signal_close(struct cov_signal *s); /* NULL is accepted */

/* Returns true if dataset k is stored unrounded. */
bool cov_signal_is_float(const struct cov_signal *s, size_t k);

/* Adds each column (BAM file) of dataset k as a dataset, after all others. Its name is the
 * name of the dataset, "_", and the name of the BAM file (evaluation/<name>_meta/bam_files) without
 * directory and suffix, or the column's number from 1 if the files' names are equal or not there. */
int cov_signal_split(struct cov_signal *s, size_t k, struct cov_err *e) COV_MUST_USE;

/* HDF5's thread: fetches the stored bytes of row i of the datasets ks[0..n_ks) into *raw, which is
 * cleared first. */
int cov_signal_fetch(struct cov_signal *s, size_t i, const size_t *ks, size_t n_ks,
                     struct cov_blob *raw, struct cov_err *e) COV_MUST_USE;

/* Any thread: sets values[n_ks][L] to the values of the fetched row, in the chunk's own direction
 * (start to end). If a dataset has several columns (BAM files), the value is their unrounded mean,
 * computed in double. Values past the end of the chunk are set to COV_SIGNAL_PAD, whatever is
 * stored there. The pieces in *raw are kept; the space after them is used as scratch. COV_EINPUT
 * for damaged compression, and for NaN, infinite or negative values before the end of the chunk,
 * except gaps between regions. */
int cov_signal_decode_row(const struct cov_signal *s, size_t i, const size_t *ks, size_t n_ks,
                          struct cov_blob *raw, float *values, struct cov_err *e) COV_MUST_USE;

/* The destination for the datasets ks[0..n_ks). */
struct cov_signal_output {
    const size_t *ks;
    size_t n_ks;
    float *values[2]; /* values[s][n_ks][L] of strand s; NULL: not needed */
};

/* The same for the record of a pair of a stream, which must have the strands whose values are
 * wanted. `sequence` is for messages. *scratch is reused. */
int cov_signal_decode_pair(const struct cov_signal *s, const char *sequence,
                           const struct cov_blob *record, const struct cov_signal_output *out,
                           struct cov_blob *scratch, struct cov_err *e) COV_MUST_USE;

/* ---- parts of the above, for other readers ---- */

/* Finds the *n datasets of this kind in a head, and describes them in (*parts)[]. The message of
 * COV_EINPUT names the dataset, not the input. Free with cov_signal_free_parts. */
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
 * cov_signal_decode_row. Returns `length`, or the index of the first value that is not a valid
 * coverage. */
size_t cov_signal_means(const struct cov_signal_columns *columns, const uint8_t *elems,
                        size_t length, size_t L, float *values) COV_MUST_USE;

#endif
