/* h5_rows.h - converts rows of an HDF5 dataset from stored bytes to numbers, and back. Does not
 * use libhdf5, so any thread may call these functions.
 *
 * A row is one index of the first dimension. Datasets have up to three dimensions: rows,
 * positions, columns.
 * SPDX-License-Identifier: MIT */
#ifndef COV_H5_H5_ROWS_H
#define COV_H5_H5_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/codec.h"

enum cov_h5_kind {
    COV_H5_INT,    /* 1, 2, 4 or 8 bytes */
    COV_H5_FLOAT,  /* IEEE: 2, 4 or 8 bytes */
    COV_H5_STRING, /* fixed length */
    COV_H5_BOOL    /* 1 byte: h5py's enumeration of FALSE = 0 and TRUE = 1 */
};

struct cov_h5_type {
    enum cov_h5_kind kind;
    size_t bytes;
    bool is_signed, big_endian;
    char padding; /* STRING: ' ' or '\0' */
};

/* Returns true if the types are the same. Ignores the byte order, since reading converts it. */
bool cov_h5_same_type(const struct cov_h5_type *a, const struct cov_h5_type *b);

struct cov_h5_rows {
    struct cov_h5_type type;
    size_t dims[3];  /* 1 for missing dimensions */
    bool chunked;    /* pieces are stored chunks, otherwise plain elements */
    size_t chunk[3]; /* if chunked: > 0, at most COV_H5_MAX_BYTES per chunk */
    struct cov_filter filters[3];
    size_t n_filters;
    uint8_t *fill; /* one element, for missing chunks. Owned by the dataset */
};

/* Upper bound for the size of a chunk, and for the size of all chunks of one row together. */
#define COV_H5_MAX_BYTES ((size_t)1 << 30)

/* A piece that holds a stored chunk begins with the filter mask, followed by the bytes. The piece
 * of a missing chunk is empty. */
#define COV_H5_PIECE_HEAD sizeof(uint32_t)

/* Returns the number of pieces for columns [col, col + n_cols) of a row. */
size_t cov_h5_n_pieces(const struct cov_h5_rows *rows, size_t col, size_t n_cols);

/* Rows [row, row + n_rows), all positions, columns [col, col + n_cols). */
struct cov_h5_block {
    size_t row, n_rows, col, n_cols;
};

/* Decodes a block whose rows share chunks, from the pieces of *raw that start at first_piece, to
 * (*elems)[n_rows][dims[1]][n_cols] of type rows->type. *elems points into *raw, where the space
 * after the pieces is also used as scratch; it is valid until *raw is used again. COV_EINPUT for
 * damaged compression or a wrong size. */
int cov_h5_unpack(const struct cov_h5_rows *rows, struct cov_h5_block block, struct cov_blob *raw,
                  size_t first_piece, const uint8_t **elems, struct cov_err *e) COV_MUST_USE;

/* Converts n elements of type INT, FLOAT or BOOL to double. 64-bit integers may be rounded. */
void cov_h5_to_double(const struct cov_h5_type *type, const void *src, size_t n, double *dst);

/* Sets values[0..n) to the n elements at `elems`. Fast, but the type must be an integer of 4 or 8
 * bytes in native byte order, and all elements must be in 0 .. 2^24-1, as coverage usually is, which
 * floats hold exactly; otherwise returns false, and values[] is undefined. */
bool cov_h5_to_float(const struct cov_h5_type *type, const void *elems, size_t n, float *values);

/* Returns the number of values before the first one that is not a valid coverage, because it is
 * negative, infinite or NaN. */
size_t cov_count_valid(const float *values, size_t n);

/* Converts n elements of type INT or BOOL to int64_t. COV_EINPUT if one does not fit. */
int cov_h5_to_int64(const struct cov_h5_type *type, const void *src, size_t n, int64_t *dst,
                    struct cov_err *e) COV_MUST_USE;

/* Converts src[0..n) of type `from` to dst[0..n) of type `to`. Both types are INT or FLOAT,
 * little-endian; if `to` is FLOAT, it has 4 or 8 bytes. Returns n, or the index of the first value
 * that `to` cannot hold exactly. */
size_t cov_h5_retype(const struct cov_h5_type *from, const void *src, size_t n,
                     const struct cov_h5_type *to, void *dst);

/* Writes "float16", "int64", "int32 big-endian", "bool" or "S50". Returns `text`. */
enum { COV_H5_TYPE_TEXT = 48 };
const char *cov_h5_type_text(const struct cov_h5_type *type, char text[COV_H5_TYPE_TEXT]);

/* Prints one element, for messages. */
void cov_h5_print_element(const struct cov_h5_type *type, const void *src, char *text, size_t size);

/* Returns the length of a STRING without its padding. */
size_t cov_h5_string_length(const struct cov_h5_type *type, const char *text);

/* ---- packing: pieces from elements ---- */

/* Sets filters[] to the filters of a dataset written with this choice; returns their number.
 * SHUFFLE comes first if elem_bytes is not 0, except without compression and with Blosc, which
 * shuffles on its own. So if there are two filters, the first is SHUFFLE. */
size_t cov_h5_filters(struct cov_codec_choice choice, size_t elem_bytes,
                      struct cov_filter filters[3]);

/* A piece is encoded in place in two steps. This first step sets *src to room for the n bytes of
 * the chunk, the input of the compression, and *scratch to room for n more bytes. */
int cov_h5_pack_begin(struct cov_codec_choice choice, size_t n, struct cov_blob *b, uint8_t **src,
                      uint8_t **scratch, struct cov_err *e) COV_MUST_USE;
/* The second step: compresses the bytes at *src and ends the piece. The caller has already applied
 * all filters of cov_h5_filters except the last to these bytes. */
int cov_h5_pack_end(struct cov_codec_choice choice, const struct cov_filter *filters,
                    size_t n_filters, size_t n, struct cov_blob *b, struct cov_err *e) COV_MUST_USE;

#endif
