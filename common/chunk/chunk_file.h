/* chunk_file.h - HDF5 files with one row per chunk: genome files, with or without measured
 * coverage, and predictions files.
 *
 * Bases (bases.h) are read and written as codes. All other datasets are passed on unchanged. HDF5
 * belongs to one thread; any thread may decode and encode.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_CHUNK_FILE_H
#define COV_CHUNK_CHUNK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/chunk/bases.h"
#include "common/chunk/chunk_head.h"
#include "common/codec/codec.h"
#include "common/seq/grid.h"

/* ---- reading ---- */

struct cov_chunk_file;

/* Opens any file of chunks. data/start_ends, seqids, species (optional) and the tables of a partial
 * file form the grid. The head lists the other datasets. Those in data/, evaluation/, prediction/,
 * scores/ or alternative/NAME/ that have one row per chunk are sets (except the lists model_name and
 * datasets of a predictions file); all others are tables. L is taken from the bases, else from the predictions,
 * else from the longest rows. COV_EINPUT, with file and dataset, for damaged or contradictory data
 * and for data that cannot be passed on (unsupported types or ranks, tables over 256 MiB);
 * COV_EUNSUPPORTED for unknown filters and for links. Attributes that are not strings are skipped
 * with a warning. */
int cov_chunk_file_open(const char *path, struct cov_chunk_file **out,
                        struct cov_err *e) COV_MUST_USE;
/* The same for the bases alone: the head has no sets and tables. COV_EINPUT for a file without
 * bases. */
int cov_chunk_file_open_bases(const char *path, struct cov_chunk_file **out,
                              struct cov_err *e) COV_MUST_USE;

struct cov_h5;
struct cov_h5_set;

/* What to read of a file; the rest is ignored, and so are attributes that are not strings. */
struct cov_chunk_wanted {
    bool bases;
    const char *const
        *names; /* [n_names]: other datasets; those that the file lacks are left out */
    size_t n_names;
};

/* The same for an open file. Owns h5: closes it with *out, or after a failure. */
int cov_chunk_file_open_some(struct cov_h5 *h5, const struct cov_chunk_wanted *wanted,
                             struct cov_chunk_file **out, struct cov_err *e) COV_MUST_USE;
void cov_chunk_file_close(struct cov_chunk_file *f); /* NULL is accepted */

/* Borrowed until close. */
const struct cov_grid *cov_chunk_file_grid(const struct cov_chunk_file *f);
const struct cov_chunk_head *cov_chunk_file_head(const struct cov_chunk_file *f);

/* Parts of a row: its bases, and the sets ks[0..n_ks) of the head. */
struct cov_chunk_parts {
    bool bases;
    const size_t *ks;
    size_t n_ks;
};
#define COV_CHUNK_BASES ((struct cov_chunk_parts){true, NULL, 0})

/* HDF5's thread: adds the stored pieces of these parts of row i to *raw, bases first. The caller
 * must clear *raw before. */
int cov_chunk_file_fetch(struct cov_chunk_file *f, size_t i, struct cov_chunk_parts parts,
                         struct cov_blob *raw, struct cov_err *e) COV_MUST_USE;

/* Any thread: decodes the same parts. Sets codes[0..L) to the bases, checked as in
 * cov_bases_decode, and each elems[j], j < n_ks, to the row of set ks[j] in little-endian order.
 * The space after the pieces in *raw is used as scratch. Errors name the file, dataset and row. */
int cov_chunk_file_decode(const struct cov_chunk_file *f, size_t i, struct cov_chunk_parts parts,
                          struct cov_blob *raw, uint8_t *codes, uint8_t *const *elems,
                          struct cov_err *e) COV_MUST_USE;

/* Both are borrowed until close: the file, and set k of the head, for reading only some columns. */
struct cov_h5 *cov_chunk_file_h5(const struct cov_chunk_file *f);
struct cov_h5_set *cov_chunk_file_set(const struct cov_chunk_file *f, size_t k);

/* Returns "data/X" or "data/X_packed", or NULL if there are no bases. */
const char *cov_chunk_file_bases_name(const struct cov_chunk_file *f);
/* Describes how a dataset is stored; out->rank is 0 if there is none of this name. HDF5's thread. */
int cov_chunk_file_storage(struct cov_chunk_file *f, const char *set, struct cov_h5_storage *out,
                           struct cov_err *e) COV_MUST_USE;

/* ---- writing ---- */

struct cov_chunk_writer_options {
    enum cov_layout layout;
    struct cov_codec_choice compression;
    size_t chunk_rows; /* rows per stored chunk of bases and sets; 0: 1 */
};

struct cov_chunk_writer;

/* Creates the file at `path` (the temporary name of an outfile). If `path` is NULL, the head must
 * have no bases, and the writer only encodes and must be aborted. `head` is copied. The writer adds
 * the attributes covtools_version, partial (if needed) and timestamp (if the head has one or if
 * there are bases). The timestamp is the current time, or SOURCE_DATE_EPOCH if that is set;
 * COV_EUSAGE if SOURCE_DATE_EPOCH is not a number.
 *
 * Rows may be put in any order, each exactly once; the number of rows is needed only at the end.
 * With chunk_rows R > 1, each call puts a whole group, rows R * g .. R * g + R - 1; the last group
 * may be shorter. The same calls always write the same bytes. Compressed multi-byte numbers are
 * also shuffled, except deflated integers in prediction/, which are not shuffled in Predmoter's
 * files either. */
int cov_chunk_writer_new(const char *path, const struct cov_chunk_head *head,
                         const struct cov_chunk_writer_options *options,
                         struct cov_chunk_writer **out, struct cov_err *e) COV_MUST_USE;

/* Any thread: adds the stored form of a group of n_rows rows (1, or up to chunk_rows) to *out,
 * which also serves as scratch. codes[r] is the L codes of row r (unused without bases);
 * elems[r][k] is row r of set k, for all sets of the head. Rows of a few bytes are not compressed
 * here: they are kept in memory until finish writes them in chunks of 4096 rows. */
int cov_chunk_writer_encode(const struct cov_chunk_writer *w, size_t n_rows,
                            const uint8_t *const *codes, const uint8_t *const *const *elems,
                            struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* Returns the writer of the bases, for cov_bases_encode_both on any thread; NULL if there are none. */
const struct cov_bases_writer *cov_chunk_writer_bases(const struct cov_chunk_writer *w);

/* HDF5's thread: stores the group that begins at row i, from the cov_chunk_writer_n_pieces pieces
 * of *blob that start at first_piece. */
size_t cov_chunk_writer_n_pieces(const struct cov_chunk_writer *w);
/* Returns true if *blob can be the stored form of one row: the number of pieces is right, and none
 * is too short. For files without bases. */
bool cov_chunk_writer_fits(const struct cov_chunk_writer *w, const struct cov_blob *blob);
int cov_chunk_writer_put(struct cov_chunk_writer *w, size_t i, const struct cov_blob *blob,
                         size_t first_piece, struct cov_err *e) COV_MUST_USE;

/* Writes the columns of the grid: data/seqids, species and start_ends, and for a partial grid also
 * data/seq_names, seq_species and seq_lengths. The rows of the grid must be the rows that were put.
 * Flushes and closes the file; always frees *w. */
int cov_chunk_writer_finish(struct cov_chunk_writer *w, const struct cov_grid *grid,
                            struct cov_err *e) COV_MUST_USE;
void cov_chunk_writer_abort(struct cov_chunk_writer *w); /* NULL is accepted */

/* ---- writing pair by pair, although the length of a sequence is known only at its end ---- */

/* Rows are in Helixer's order: the + chunks of a sequence in order, then its - chunks in reverse
 * order. Until the sequence ends, encoded - chunks wait in memory, and when that is full in an
 * unlinked temporary file. So the output is the same, byte for byte, whether or not the input was a
 * pipe. */
struct cov_pair_writer;

/* Maximum bytes that wait in memory: enough for a chromosome of 100 Mbp. */
enum { COV_PAIR_WRITER_MEMORY = 48 << 20 };

/* Takes ownership of the writer, even on failure; finish and abort close it. Its chunk_rows must be
 * 1. Up to `memory` bytes wait in memory, the rest in a file in `tmpdir`. If `partial` is set,
 * there may be gaps between pairs, and a pair may lack a strand. */
int cov_pair_writer_new(struct cov_chunk_writer *w, size_t L, const char *tmpdir, size_t memory,
                        bool partial, struct cov_pair_writer **out, struct cov_err *e) COV_MUST_USE;

/* All of the following run on HDF5's thread. The caller has checked the order, as stream.h and genome.h
 * do: no sequence occurs twice, each ends before the next one begins, and its pairs ascend to its
 * length. */
int cov_pair_writer_begin(struct cov_pair_writer *p, const char *species, const char *name,
                          struct cov_err *e) COV_MUST_USE;
/* Copies the encoded chunks of [beg, end); a missing strand is NULL. */
int cov_pair_writer_put(struct cov_pair_writer *p, int64_t beg, int64_t end,
                        const struct cov_blob *plus, const struct cov_blob *minus,
                        struct cov_err *e) COV_MUST_USE;
int cov_pair_writer_end(struct cov_pair_writer *p, int64_t length, struct cov_err *e) COV_MUST_USE;

/* Completes and closes the file; always frees *p. */
int cov_pair_writer_finish(struct cov_pair_writer *p, struct cov_err *e) COV_MUST_USE;
void cov_pair_writer_abort(struct cov_pair_writer *p); /* NULL is accepted */

#endif
