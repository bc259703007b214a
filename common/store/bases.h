/* bases.h - the bases of a file of chunks as codes; stored one-hot in data/X, as in Helixer's
 * files, or packed in data/X_packed.
 *
 * Packed: uint8 [N, (L + 1) / 2], two bases per byte as packed by cov_codes_pack, with the
 * attribute subsequence_length = L. HDF5 belongs to one thread; any thread may decode and encode.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_BASES_H
#define COV_STORE_BASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/codec/codec.h"
#include "common/seq/grid.h"
#include "common/store/h5.h"

enum cov_layout { COV_LAYOUT_ONEHOT, COV_LAYOUT_PACKED };

/* ---- reading ---- */

struct cov_bases;

bool cov_bases_are_in(const struct cov_h5 *f);

/* Opens one-hot bases [N, L, 4] of any float type and chunk shape, or packed ones. COV_EINPUT names
 * file and data set. Borrows *f: close before it. */
int cov_bases_open(struct cov_h5 *f, struct cov_bases **out, struct cov_err *e) COV_MUST_USE;
void cov_bases_close(struct cov_bases *b); /* NULL is accepted */

size_t cov_bases_n_rows(const struct cov_bases *b);
size_t cov_bases_length(const struct cov_bases *b); /* L */
const char *cov_bases_name(const struct cov_bases *b);

/* HDF5's thread: adds the cov_bases_n_pieces stored pieces of a row to *raw. */
int cov_bases_fetch(struct cov_bases *b, size_t row, struct cov_blob *raw,
                    struct cov_err *e) COV_MUST_USE;
size_t cov_bases_n_pieces(const struct cov_bases *b);

/* Any thread: codes[0..L) of a row of the grid, whose pieces in *raw begin with first_piece. *raw
 * serves as scratch after its pieces. COV_EINPUT, naming file, row and position, for values of no
 * IUPAC code (including NaN), a base past the end given in start_ends, padding before that end, and
 * damaged compression. */
int cov_bases_decode(const struct cov_bases *b, const struct cov_grid *grid, size_t row,
                     struct cov_blob *raw, size_t first_piece, uint8_t *codes,
                     struct cov_err *e) COV_MUST_USE;

/* ---- writing ---- */

struct cov_bases_writer;

/* A new data set without rows; a stored chunk has chunk_rows rows. Close before *f. */
int cov_bases_create(struct cov_h5 *f, enum cov_layout layout, size_t L, size_t chunk_rows,
                     struct cov_codec_choice compression, struct cov_bases_writer **out,
                     struct cov_err *e) COV_MUST_USE;
void cov_bases_writer_close(struct cov_bases_writer *w); /* NULL is accepted */

/* Any thread: adds one piece, the stored chunk of n_rows rows (chunk_rows, or fewer at the end),
 * codes[r][0..L), padding as COV_CODE_PAD. */
int cov_bases_encode(const struct cov_bases_writer *w, size_t n_rows, const uint8_t *const *codes,
                     struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* The same for both strands of a chunk, with one row per stored chunk: codes[0..L), n of them
 * bases, is the + strand. Faster than two calls. `scratch` has cov_onehot_scratch(L) bytes. */
int cov_bases_encode_both(const struct cov_bases_writer *w, const uint8_t *codes, size_t n,
                          uint8_t *scratch, struct cov_blob *plus, struct cov_blob *minus,
                          struct cov_err *e) COV_MUST_USE;

/* HDF5's thread: stores a piece as the chunk that begins at `row` and adds rows as needed, possibly
 * too many: call cov_bases_resize at the end. */
int cov_bases_put(struct cov_bases_writer *w, size_t row, const struct cov_blob *blob, size_t piece,
                  struct cov_err *e) COV_MUST_USE;
int cov_bases_resize(struct cov_bases_writer *w, size_t n_rows, struct cov_err *e) COV_MUST_USE;

#endif
