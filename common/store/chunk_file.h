/* chunk_file.h - HDF5 files with one row per chunk, whatever they contain: genome files, with or
 * without measured coverage, and predictions files.
 *
 * Bases (bases.h) are read and written as codes. All other data sets are passed on unchanged. HDF5
 * belongs to one thread; any thread may decode and encode.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_CHUNK_FILE_H
#define COV_STORE_CHUNK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/codec/codec.h"
#include "common/seq/grid.h"
#include "common/store/bases.h"
#include "common/store/chunk_head.h"

/* ---- reading ---- */

struct cov_chunk_file;

/* Opens any file of chunks. data/start_ends, seqids, species (optional) and the tables of a partial
 * file form the grid. The head lists the other data sets: as sets if they are in data/, evaluation/
 * or prediction/ and have one row per chunk (except the lists of a predictions file, model_name and
 * datasets), otherwise as tables. L is taken from the bases, else from the predictions, else from
 * the longest rows. COV_EINPUT names file and data set of damaged or contradictory data and of data
 * that cannot be passed on (types, ranks, tables over 256 MiB); COV_EUNSUPPORTED for unknown
 * filters and for links. Attributes that are not strings are skipped with a warning. */
int cov_chunk_file_open(const char *path, struct cov_chunk_file **out,
                        struct cov_err *e) COV_MUST_USE;
/* The same for the bases alone: other data sets are ignored, and the head has no sets, tables and
 * attributes. COV_EINPUT for a file without bases. */
int cov_chunk_file_open_bases(const char *path, struct cov_chunk_file **out,
                              struct cov_err *e) COV_MUST_USE;
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

/* HDF5's thread: adds the stored pieces of these parts of row i to *raw, bases first. The caller clears
 * *raw. */
int cov_chunk_file_fetch(struct cov_chunk_file *f, size_t i, struct cov_chunk_parts parts,
                         struct cov_blob *raw, struct cov_err *e) COV_MUST_USE;

/* Any thread, for the same parts: codes[0..L) = the bases, checked as in cov_bases_decode;
 * elems[j], for each j < n_ks, = the row of set ks[j], little-endian. *raw serves as scratch after
 * its pieces. Errors name file, data set and row. */
int cov_chunk_file_decode(const struct cov_chunk_file *f, size_t i, struct cov_chunk_parts parts,
                          struct cov_blob *raw, uint8_t *codes, uint8_t *const *elems,
                          struct cov_err *e) COV_MUST_USE;

/* "data/X", "data/X_packed", or NULL if there are no bases. */
const char *cov_chunk_file_bases_name(const struct cov_chunk_file *f);
/* How a data set is stored. HDF5's thread. */
int cov_chunk_file_storage(struct cov_chunk_file *f, const char *set, struct cov_h5_storage *out,
                           struct cov_err *e) COV_MUST_USE;

/* ---- writing ---- */

struct cov_chunk_writer_options {
    enum cov_layout layout;
    struct cov_codec_choice compression;
    size_t chunk_rows; /* rows per stored chunk of bases and sets; 0: 1 */
};

struct cov_chunk_writer;

/* Creates the file at `path` (the temporary name of an outfile). If `path` is NULL, the writer only
 * encodes, for a head without bases, and must be aborted. `head` is copied. The attributes
 * timestamp (if the head has one, or bases: the current time, or SOURCE_DATE_EPOCH; COV_EUSAGE if
 * that is not a number), covtools_version and, if needed, partial are added.
 *
 * Rows may be put in any order, each once; their number is needed only at the end. With chunk_rows
 * R > 1, rows are put in whole groups: one call puts rows R * g .. R * g + R - 1; the last group
 * may be shorter. The same calls write the same bytes. Multi-byte numbers are shuffled if they are
 * compressed, except deflated integers in prediction/, as in Predmoter's files. */
int cov_chunk_writer_new(const char *path, const struct cov_chunk_head *head,
                         const struct cov_chunk_writer_options *options,
                         struct cov_chunk_writer **out, struct cov_err *e) COV_MUST_USE;

/* Any thread: adds the stored form of a group of n_rows rows (1, or up to chunk_rows) to *out,
 * which also serves as scratch: codes[r] = the L codes of row r (unused without bases), elems[r][k]
 * = row r of set k, for all sets of the head. Rows of a few bytes are not compressed yet: they are
 * kept in memory, and finish writes them as chunks of 4096 rows. */
int cov_chunk_writer_encode(const struct cov_chunk_writer *w, size_t n_rows,
                            const uint8_t *const *codes, const uint8_t *const *const *elems,
                            struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* The same for both strands of one chunk, in a file with bases only and chunk_rows 1: codes[0..n),
 * padded to L, is the + strand. Faster than two calls. `scratch` has cov_onehot_scratch(L)
 * bytes. */
int cov_chunk_writer_encode_both(const struct cov_chunk_writer *w, const uint8_t *codes, size_t n,
                                 uint8_t *scratch, struct cov_blob *plus, struct cov_blob *minus,
                                 struct cov_err *e) COV_MUST_USE;

/* HDF5's thread: stores the group that begins at row i, from the cov_chunk_writer_n_pieces pieces
 * of *blob that start at first_piece. */
size_t cov_chunk_writer_n_pieces(const struct cov_chunk_writer *w);
int cov_chunk_writer_put(struct cov_chunk_writer *w, size_t i, const struct cov_blob *blob,
                         size_t first_piece, struct cov_err *e) COV_MUST_USE;

/* Writes the columns of the grid (data/seqids, species, start_ends; of a partial one also
 * data/seq_names, seq_species, seq_lengths), whose rows must be the ones that were put; flushes and
 * closes; always frees *w. */
int cov_chunk_writer_finish(struct cov_chunk_writer *w, const struct cov_grid *grid,
                            struct cov_err *e) COV_MUST_USE;
void cov_chunk_writer_abort(struct cov_chunk_writer *w); /* NULL is accepted */

#endif
