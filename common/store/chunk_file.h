/* chunk_file.h - HDF5 files with one row a chunk, whatever is in them: genome files, with or
 * without measured coverage, predictions files.
 *
 * Bases are data/X (one-hot, Helixer's) or data/X_packed (4 bits a base, two bases a byte, the
 * first in the high half: uint8 [N, (L+1)/2], with the attribute subsequence_length = L), and come
 * as codes either way. Every other data set is passed on as it is. What touches HDF5 belongs to one
 * thread, what costs time may run in any.
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

/* Opens any file of chunks: data/start_ends, seqids and, where it is, species and the tables of a
 * partial file make the grid; all other data sets are entered in the head: by chunk what stands in
 * data/, evaluation/ or prediction/ and has as many rows as there are chunks (but not the two lists of
 * a predictions file, model_name and datasets), the others whole. L is that of the bases, else of the
 * predictions, else of the longest rows. COV_EINPUT names file and data set of what is damaged,
 * contradicts itself, or cannot be passed on (types, ranks, tables of more than 256 MiB);
 * COV_EUNSUPPORTED unknown filters and links. Attributes that are no text are left out, with a
 * warning. */
int cov_chunk_file_open(const char *path, struct cov_chunk_file **out,
                        struct cov_err *e) COV_MUST_USE;
/* The same for the bases of a genome file alone: whatever else is in it is not looked at, and the head
 * is without sets, tables and attributes. COV_EINPUT for a file without bases. */
int cov_chunk_file_open_bases(const char *path, struct cov_chunk_file **out,
                              struct cov_err *e) COV_MUST_USE;
void cov_chunk_file_close(struct cov_chunk_file *f); /* NULL is accepted */

/* Borrowed until close. */
const struct cov_grid *cov_chunk_file_grid(const struct cov_chunk_file *f);
const struct cov_chunk_head *cov_chunk_file_head(const struct cov_chunk_file *f);

/* The parts of a row: its bases, and the sets ks[0..n_ks) of the head. */
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

/* Any thread, for the same parts: codes[0..L) = the bases, checked as by cov_bases_decode; elems[j], for
 * each j < n_ks, = the row of set ks[j], little-endian. *raw serves as scratch after its pieces. Errors
 * name file, data set and row. */
int cov_chunk_file_decode(const struct cov_chunk_file *f, size_t i, struct cov_chunk_parts parts,
                          struct cov_blob *raw, uint8_t *codes, uint8_t *const *elems,
                          struct cov_err *e) COV_MUST_USE;

/* "data/X", "data/X_packed", or NULL if there are no bases. */
const char *cov_chunk_file_bases_name(const struct cov_chunk_file *f);
/* How any data set is stored. HDF5's thread. */
int cov_chunk_file_storage(struct cov_chunk_file *f, const char *set, struct cov_h5_storage *out,
                           struct cov_err *e) COV_MUST_USE;

/* ---- writing ---- */

struct cov_chunk_writer_options {
    enum cov_layout layout;
    struct cov_codec_choice compression;
    size_t chunk_rows; /* rows a stored chunk of bases and of sets; 0: 1 (see below) */
};

struct cov_chunk_writer;

/* Creates the file at `path` (an outfile's temporary name); NULL: no file, for a head without bases, to
 * encode and nothing else; it ends in abort. `head` is copied; the attributes timestamp
 * (where the head has one, or bases: the time, or SOURCE_DATE_EPOCH of the environment; COV_EUSAGE if
 * that is no number), covtools_version and, if need be, partial are added. Rows may come in any order,
 * but each once; how many there are is known at the end. The same calls make the same bytes, whatever
 * was known when. Numbers of several bytes are shuffled where they are compressed, but not deflated
 * integers in prediction/, as in Predmoter's files. With chunk_rows R > 1
 * rows are put in whole groups: R * g .. R * g + R - 1 by one call, the last group may be shorter. */
int cov_chunk_writer_new(const char *path, const struct cov_chunk_head *head,
                         const struct cov_chunk_writer_options *options,
                         struct cov_chunk_writer **out, struct cov_err *e) COV_MUST_USE;

/* Any thread: adds the stored form of a group of n_rows (1, or up to chunk_rows) to *out, which is
 * all the scratch there is: codes[r] = the L codes of row r (unused without bases), elems[r][k] =
 * row r of set k, for all sets of the head. Rows of a few bytes stay as they are: their stored chunks are
 * made at the end, 4096 rows each, and wait in memory. */
int cov_chunk_writer_encode(const struct cov_chunk_writer *w, size_t n_rows,
                            const uint8_t *const *codes, const uint8_t *const *const *elems,
                            struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* The same of both strands of one chunk in a file of bases alone, with chunk_rows 1: codes[0..n),
 * behind which is padding up to L, is the + strand. Faster than two calls. `scratch` has
 * cov_onehot_scratch(L) bytes. */
int cov_chunk_writer_encode_both(const struct cov_chunk_writer *w, const uint8_t *codes, size_t n,
                                 uint8_t *scratch, struct cov_blob *plus, struct cov_blob *minus,
                                 struct cov_err *e) COV_MUST_USE;

/* HDF5's thread: stores the group that begins at row i, from pieces first_piece.. of *blob;
 * cov_chunk_writer_n_pieces of them belong to a group. */
size_t cov_chunk_writer_n_pieces(const struct cov_chunk_writer *w);
int cov_chunk_writer_put(struct cov_chunk_writer *w, size_t i, const struct cov_blob *blob,
                         size_t first_piece, struct cov_err *e) COV_MUST_USE;

/* Writes the columns of the grid (data/seqids, species, start_ends; of a partial one data/seq_names,
 * seq_species, seq_lengths too), whose rows must be those that were put, flushes and closes; frees
 * *w in any case. */
int cov_chunk_writer_finish(struct cov_chunk_writer *w, const struct cov_grid *grid,
                            struct cov_err *e) COV_MUST_USE;
void cov_chunk_writer_abort(struct cov_chunk_writer *w); /* NULL is accepted */

#endif
