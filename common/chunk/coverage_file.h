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
#include "common/codec/codec.h"
#include "common/file/tmpfile.h"
#include "common/seq/grid.h"

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

/* ---- a store of encoded coverage ---- */

/* Keeps the coverage of all pairs of chunks, already encoded, in a temporary file, until the overall
 * maximum is known, which decides the element type. Rows are encoded with a type that fits their pair.
 * That is usually the final type; otherwise the rows are encoded again. */
struct cov_coverage_store {
    struct cov_spool spool;
    size_t n_pairs, L;
    size_t elem_bytes; /* minimum size */
    struct cov_stored_pair *pairs;
};

/* elem_bytes: 2, 4 or 8. */
int cov_coverage_store_init(struct cov_coverage_store *s, size_t n_pairs, size_t L,
                            size_t elem_bytes, const char *tmpdir, struct cov_err *e) COV_MUST_USE;
void cov_coverage_store_fini(struct cov_coverage_store *s); /* an all-zero store is accepted */

/* An encoded pair. */
struct cov_packed_pair {
    struct cov_blob blob;
    size_t elem_bytes;
    uint64_t hash; /* for sampled pairs */
};

/* Any thread: encodes the rows of pair i of the grid. lanes[set][strand] may be the same for both
 * strands. */
int cov_coverage_store_pack(const struct cov_coverage_store *s, size_t i,
                            const struct cov_pair *pair,
                            const struct cov_depth_lane lanes[COV_COVERAGE_SETS][2],
                            struct cov_packed_pair *out, struct cov_err *e) COV_MUST_USE;

/* One thread: stores a packed pair. */
int cov_coverage_store_put(struct cov_coverage_store *s, size_t i,
                           const struct cov_packed_pair *packed, struct cov_err *e) COV_MUST_USE;

/* The row of one strand and set of a pair of n bases. */
struct cov_stored_row {
    size_t pair;
    int strand, which;
    size_t n;
};

struct cov_coverage_scratch {
    int64_t *values; /* [n] */
    struct cov_blob blob;
};

/* Any thread, after all pairs were put: adds the piece of a row to *out, in elements of elem_bytes.
 * The row is zeros if the pair was not put. COV_EINPUT for a value that does not fit. */
int cov_coverage_store_get(const struct cov_coverage_store *s, const struct cov_stored_row *row,
                           size_t elem_bytes, struct cov_coverage_scratch *scratch,
                           struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* Returns true if all pieces already have elements of that size. */
bool cov_coverage_store_is_ready(const struct cov_coverage_store *s, size_t elem_bytes);

/* Returns true if pair i is in the sample to be read back. The first and the last pair always
 * are. */
bool cov_coverage_store_samples(const struct cov_coverage_store *s, size_t i);

/* Hashes a sequence of rows one by one: returns the hash `before` of the previous rows (0 if none),
 * updated with one more row. */
uint64_t cov_coverage_hash(uint64_t before, const int64_t *values, size_t n);

/* Returns the hash of the rows of a sampled pair: the + strand before the -, and on each strand
 * coverage before spliced coverage. */
uint64_t cov_coverage_store_hash(const struct cov_coverage_store *s, size_t i,
                                 const struct cov_pair *pair);

#endif
