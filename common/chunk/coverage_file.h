/* coverage_file.h - measured coverage in genome files, as Helixer's add_ngs_coverage stores it:
 * evaluation/<prefix>_coverage and _spliced_coverage are integers [N, L, B] with one column per BAM
 * file, and <prefix>_meta/bam_files has the file names. (signal_file.h reads the mean of the
 * columns.)
 *
 * Elements have 2, 4 or 8 bytes and are -1 past the end of a chunk. They are shuffled and
 * compressed with LZF. Each stored chunk is one column of one row.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_COVERAGE_FILE_H
#define COV_CHUNK_COVERAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/chunk/chunk_file.h"
#include "common/codec/blob.h"

#define COV_COVERAGE_GROUP "evaluation"

enum { COV_COVERAGE, COV_SPLICED, COV_COVERAGE_SETS };

/* Returns the length of <prefix> in the name "<prefix>_coverage" of a dataset of the group; 0 for
 * other names, such as "<prefix>_spliced_coverage". */
size_t cov_coverage_prefix_length(const char *name);
/* Returns the name of the list of files of prefix[0..n); NULL if out of memory. Caller frees. */
char *cov_coverage_files_name(const char *prefix, size_t n, struct cov_err *e);

/* ---- rows. Any thread ---- */

/* A row of one column: the first n of L elements are values, the others padding. */
struct cov_coverage_row {
    size_t n, L;
    size_t elem_bytes; /* 2, 4 or 8 */
};

/* Adds a piece to *out: the row with values[0..n). COV_EINPUT, with the index, for a value that
 * does not fit. */
int cov_coverage_encode(struct cov_coverage_row row, const int64_t *values, struct cov_blob *out,
                        struct cov_err *e) COV_MUST_USE;

/* The depths at the n bases of a pair, in ascending order on the + strand, and their maximum. */
struct cov_depth_lane {
    const int32_t *depth; /* >= 0; may be NULL if max is 0 */
    int32_t max;
};

/* The same for the depths of a lane, whose maximum must fit. Reverses them for the - strand. */
int cov_coverage_encode_depth(struct cov_coverage_row row, const struct cov_depth_lane *lane,
                              bool minus, struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* Sets values[0..n) to the values of piece `i` of *pieces, which is also used as scratch. */
int cov_coverage_decode_piece(struct cov_coverage_row row, struct cov_blob *pieces, size_t i,
                              int64_t *values, struct cov_err *e) COV_MUST_USE;

/* ---- reading ---- */

struct cov_coverage_reader {
    struct cov_chunk_file *file;                /* its grid, bases, and these datasets. Owned */
    struct cov_h5_set *sets[COV_COVERAGE_SETS]; /* the spliced one may be NULL */
    size_t n_columns, elem_bytes;               /* 0 columns: the file has no such prefix */
    char **files;                               /* [n_columns]: column names, or "" */
    char **settings;                            /* [n_columns], or "" */
    double *reads;                              /* [n_columns] counted reads; 0: unknown */
};

/* Opens a genome file. COV_EINPUT for a file without bases, and for datasets of the wrong shape or
 * type. Free with cov_coverage_reader_close. */
int cov_coverage_reader_open(const char *path, const char *prefix, struct cov_coverage_reader **out,
                             struct cov_err *e) COV_MUST_USE;
void cov_coverage_reader_close(struct cov_coverage_reader *r); /* NULL is accepted */

/* HDF5's thread: adds the stored pieces of row i, all columns of both sets, to *raw. */
int cov_coverage_fetch(struct cov_coverage_reader *r, size_t i, struct cov_blob *raw,
                       struct cov_err *e) COV_MUST_USE;

/* One column of a row. */
struct cov_coverage_column {
    size_t row;
    int which; /* COV_COVERAGE or COV_SPLICED */
    size_t col;
};

/* Any thread: sets values[0..n) to those of the column, from the pieces of its row, or to zeros if
 * the file does not have the set. */
int cov_coverage_decode(const struct cov_coverage_reader *r,
                        const struct cov_coverage_column *column, struct cov_blob *raw, size_t n,
                        int64_t *values, struct cov_err *e) COV_MUST_USE;

/* ---- writing ---- */

struct cov_coverage_options {
    const char *prefix;
    size_t n_rows, L;
    size_t n_columns;            /* B */
    const char *const *files;    /* [B]: column names */
    const char *const *settings; /* [B]: how each was counted; an attribute, one line per column */
    size_t elem_bytes;           /* 2, 4 or 8 */
};

struct cov_coverage_writer;

/* Opens the file at `path`, removes the datasets of this prefix and creates new ones. The file is
 * changed in place, so it should be a copy. */
int cov_coverage_writer_new(const char *path, const struct cov_coverage_options *options,
                            struct cov_coverage_writer **out, struct cov_err *e) COV_MUST_USE;

/* HDF5's thread: stores row i from 2 B pieces: B columns of coverage, then B columns of spliced
 * coverage. */
int cov_coverage_put(struct cov_coverage_writer *w, size_t i, const struct cov_blob *blob,
                     struct cov_err *e) COV_MUST_USE;

/* This attribute of coverage has the number of reads of each column that were counted; 0 for
 * tracks. */
#define COV_COVERAGE_READS "counted_reads"
/* Sets values[0..n) to the numbers of an attribute with one per line, 0 for missing ones and other
 * texts. */
void cov_coverage_parse_note(const char *text, size_t n, double *values);

/* HDF5's thread: adds an attribute to the coverage, with a number for each column, one per line. */
int cov_coverage_note(struct cov_coverage_writer *w, const char *name, const double *values,
                      struct cov_err *e) COV_MUST_USE;

/* Flushes and closes; always frees *w. */
int cov_coverage_writer_close(struct cov_coverage_writer *w, struct cov_err *e) COV_MUST_USE;
void cov_coverage_writer_abort(struct cov_coverage_writer *w); /* NULL is accepted */

#endif
