/* bases.h - reads and writes the bases of a file of chunks as codes. The file stores them one-hot
 * in data/X, like Helixer's files, or packed in data/X_packed.
 *
 * Packed bases are uint8 [N, (L + 1) / 2], two bases per byte in the order of cov_codes_pack, with
 * the attribute subsequence_length = L. HDF5 belongs to one thread; any thread may decode and
 * encode.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_BASES_H
#define COV_CHUNK_BASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/codec.h"
#include "common/file/hash.h"
#include "common/h5/h5.h"
#include "common/seq/grid.h"

enum cov_layout { COV_LAYOUT_ONEHOT, COV_LAYOUT_PACKED };

/* ---- reading ---- */

struct cov_bases;

/* Returns 1 or 0, or a negative COV_E* if the file cannot be read. */
int cov_bases_are_in(const struct cov_h5 *f, struct cov_err *e) COV_MUST_USE;

/* Opens one-hot bases [N, L, 4] of any float type and chunk shape, or packed ones. The message of
 * COV_EINPUT names the file and the dataset. Borrows *f: close the bases before the file. */
int cov_bases_open(struct cov_h5 *f, struct cov_bases **out, struct cov_err *e) COV_MUST_USE;
void cov_bases_close(struct cov_bases *b); /* NULL is accepted */

size_t cov_bases_n_rows(const struct cov_bases *b);
size_t cov_bases_length(const struct cov_bases *b); /* L */
const char *cov_bases_name(const struct cov_bases *b);

/* HDF5's thread: adds the cov_bases_n_pieces stored pieces of a row to *raw. */
int cov_bases_fetch(struct cov_bases *b, size_t row, struct cov_blob *raw,
                    struct cov_err *e) COV_MUST_USE;
size_t cov_bases_n_pieces(const struct cov_bases *b);

/* Any thread: sets codes[0..L) to the bases of a row of the grid. The pieces of the row in *raw
 * begin with first_piece; the space after them is used as scratch. COV_EINPUT, with file, row and
 * position, for values that match no IUPAC code (including NaN), a base past the end given in
 * start_ends, padding before that end, and damaged compression. */
int cov_bases_decode(const struct cov_bases *b, const struct cov_grid *grid, size_t row,
                     struct cov_blob *raw, size_t first_piece, uint8_t *codes,
                     struct cov_err *e) COV_MUST_USE;

/* ---- writing ---- */

struct cov_bases_writer;

/* Creates a dataset without rows, whose stored chunks have chunk_rows rows. Close the writer
 * before *f. */
int cov_bases_create(struct cov_h5 *f, enum cov_layout layout, size_t L, size_t chunk_rows,
                     struct cov_codec_choice compression, struct cov_bases_writer **out,
                     struct cov_err *e) COV_MUST_USE;
void cov_bases_writer_close(struct cov_bases_writer *w); /* NULL is accepted */

/* Any thread: adds one piece, the stored chunk of the n_rows rows codes[r][0..L), padded with
 * COV_CODE_PAD. n_rows is chunk_rows, or fewer at the end. */
int cov_bases_encode(const struct cov_bases_writer *w, size_t n_rows, const uint8_t *const *codes,
                     struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* The same for both strands of a chunk, with one row per stored chunk. codes[0..L) is the + strand;
 * the first n codes are bases. Clears out[0] and out[1], and sets them to the pieces of the + and the -
 * strand. Faster than two calls. */
struct cov_both_strands {
    const uint8_t *codes;
    size_t n;
    uint8_t *scratch; /* cov_onehot_scratch(L) bytes */
    struct cov_blob *out;
};
int cov_bases_encode_both(const struct cov_bases_writer *w, const struct cov_both_strands *both,
                          struct cov_err *e) COV_MUST_USE;

/* HDF5's thread: stores a piece as the chunk that begins at `row`, after adding rows if needed. It
 * may add too many, so call cov_bases_resize at the end. */
int cov_bases_put(struct cov_bases_writer *w, size_t row, const struct cov_blob *blob, size_t piece,
                  struct cov_err *e) COV_MUST_USE;
int cov_bases_resize(struct cov_bases_writer *w, size_t n_rows, struct cov_err *e) COV_MUST_USE;

/* ---- fingerprints of the bases from which the rows of a predictions file were predicted ---- */

/* The dataset of the file that holds them: a uint64 for each row. */
#define COV_BASES_FINGERPRINT_SET "data/bases_fingerprint"

/* Returns the fingerprint of a row: of codes[0..n), in the direction of its strand, without
 * padding. */
static inline uint64_t cov_bases_fingerprint(const uint8_t *codes, size_t n)
{
    return cov_fingerprint(0, codes, n);
}

/* Sets *out to the fingerprints in a file of n rows; NULL if it has none. Caller frees. */
int cov_bases_fingerprints_read(struct cov_h5 *f, size_t n, uint64_t **out,
                                struct cov_err *e) COV_MUST_USE;

#endif
