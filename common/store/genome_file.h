/* genome_file.h - Helixer's genome file: bases as one-hot chunks in HDF5 (data/X, seqids, species,
 * start_ends).
 *
 * Reading and writing are split in two: what touches HDF5 belongs to one thread, what costs time
 * (filters, conversion) may run in any thread and touches no HDF5.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_GENOME_FILE_H
#define COV_STORE_GENOME_FILE_H

#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/codec/codec.h"
#include "common/seq/grid.h"

/* ---- reading ---- */

struct cov_genome_file;

/* Opens for reading and checks the layout: data/X is N x L x 4 of any float type; seqids, species
 * and start_ends have N rows, in any integer type and string length; any chunk shapes and storage
 * layouts; the filters of codec.h, and whatever else libhdf5 itself can undo. COV_EINPUT names file and data set. `species` may be missing ("" then). */
int cov_genome_file_open(const char *path, struct cov_genome_file **out,
                         struct cov_err *e) COV_MUST_USE;
void cov_genome_file_close(struct cov_genome_file *f); /* NULL is accepted */

/* Borrowed until close. */
const struct cov_grid *cov_genome_file_grid(const struct cov_genome_file *f);

/* HDF5's thread: fetches the stored bytes of row i (i < n_chunks) into *raw, which is reused. */
int cov_genome_file_fetch(struct cov_genome_file *f, size_t i, struct cov_blob *raw,
                          struct cov_err *e) COV_MUST_USE;

/* Any thread: codes[0..L) of the fetched row. *raw serves as scratch behind its pieces, which stay.
 * COV_EINPUT names file, chunk and position of a value that is no row of an IUPAC code (NaN
 * included), of a base behind the end that start_ends gives, of padding before it, or of damaged
 * compression. */
int cov_genome_file_decode(const struct cov_genome_file *f, size_t i, struct cov_blob *raw,
                           uint8_t *codes, struct cov_err *e) COV_MUST_USE;

/* ---- writing ---- */

struct cov_genome_writer;

struct cov_genome_writer_options {
    struct cov_codec_choice compression;
    const char *input_path; /* attribute */
};

/* Creates the file at `path` (an outfile's temporary name), with all metadata of the grid, which is
 * borrowed for the call. The attribute `timestamp` is the time, or SOURCE_DATE_EPOCH of the
 * environment. Every chunk must then be put, in any order, once. */
int cov_genome_writer_new(const char *path, const struct cov_grid *grid,
                          const struct cov_genome_writer_options *options,
                          struct cov_genome_writer **out, struct cov_err *e) COV_MUST_USE;

/* Any thread: the filtered bytes of one chunk, into *out, which is reused and is all the scratch
 * there is. codes[0..L), padding as COV_CODE_PAD. */
int cov_genome_writer_encode(const struct cov_genome_writer *w, const uint8_t *codes,
                             struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* HDF5's thread: stores row i. */
int cov_genome_writer_put(struct cov_genome_writer *w, size_t i, const struct cov_blob *blob,
                          struct cov_err *e) COV_MUST_USE;

/* Flushes and closes; frees *w in any case. The file is complete if this returns 0 and every row
 * was put. */
int cov_genome_writer_close(struct cov_genome_writer *w, struct cov_err *e) COV_MUST_USE;
void cov_genome_writer_abort(struct cov_genome_writer *w); /* NULL is accepted */

#endif
