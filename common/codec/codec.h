/* codec.h - the filters for HDF5 chunks, as functions on buffers, and growable buffers of encoded
 * pieces. Does not use libhdf5. All functions are thread-safe.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_CODEC_H
#define COV_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* ---- HDF5's filter numbers ---- */

enum {
    COV_H5_DEFLATE = 1,
    COV_H5_SHUFFLE = 2,
    COV_H5_FLETCHER32 = 3,
    COV_H5_LZF = 32000,
    COV_H5_BLOSC = 32001,
    COV_H5_LZ4 = 32004,
    COV_H5_ZSTD = 32015
};

/* ---- compressions ---- */

/* GZIP, FAST and LIBDEFLATE write the same format (HDF5's deflate) and differ only in speed and
 * size. GZIP and FAST use the encoders of onehot_deflate.h for the bases of a genome file, the encoder
 * of deflate.h for integers of predictions, and levels of libdeflate for other data. */
enum cov_codec_id {
    COV_CODEC_NONE,
    COV_CODEC_GZIP,
    COV_CODEC_FAST,
    COV_CODEC_LIBDEFLATE,
    COV_CODEC_LZF,
    COV_CODEC_LZ4,
    COV_CODEC_ZSTD,
    COV_CODEC_BLOSC,
    COV_N_CODECS
};

enum { COV_CODEC_MAX_VALUES = 7 };

/* A row of the table of compressions. Optional functions may be NULL. */
struct cov_codec {
    const char *name;     /* in --compression; for filters other than deflate also HDF5's name */
    int h5_id;            /* HDF5's filter number; 0: no filter */
    int level, max_level; /* the default, and levels are 1..max_level; 0: there are none */
    bool shows_level;     /* values[level_value] is the level */
    size_t level_value;
    bool shuffles; /* the filter itself shuffles, so that SHUFFLE is not applied before it */
    /* Compresses src to dst[0..*n_dst), with room for bound(n) bytes. Sets *n_dst = 0 if the result
     * would not be smaller (not deflate). elem_bytes is that of cov_codec_encode. */
    int (*encode)(int level, size_t elem_bytes, const void *src, size_t n, void *dst, size_t *n_dst,
                  struct cov_err *e);
    /* Decompresses src to dst[0..n_dst); COV_EINPUT if src is damaged or has the wrong size. */
    int (*decode)(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e);
    size_t (*bound)(size_t n); /* optional; default: n */
    /* Optional: returns the size of the contents as stated in the header of src or in the values of
     * the filter, which cannot be trusted; 0 if they state none. */
    uint64_t (*claim)(const unsigned *values, size_t n_values, const void *src, size_t n);
    /* Sets values[] to the parameters that the filter stores with a dataset (the client data in
     * HDF5's filter message), and returns their number. NULL for deflate. */
    size_t (*values)(int level, size_t elem_bytes, size_t chunk_bytes,
                     unsigned values[COV_CODEC_MAX_VALUES]);
    const char *library; /* optional: its name and version, for --version */
    const char *(*version)(void);
};

/* By enum cov_codec_id. */
extern const struct cov_codec *const cov_codecs[COV_N_CODECS];
/* The rows of registered filters, in h5_filters.c. */
extern const struct cov_codec cov_lzf, cov_lz4, cov_zstd, cov_blosc;

/* Returns the first compression that writes this HDF5 filter, or NULL. */
const struct cov_codec *cov_codec_of_filter(int h5_id);

struct cov_codec_choice {
    enum cov_codec_id id;
    int level; /* LIBDEFLATE: 1..12, ZSTD: 1..19, BLOSC: 1..9; others: 0 */
};

/* Parses NAME or NAME:LEVEL. Otherwise fails with COV_EUSAGE and lists the names and levels. */
int cov_codec_parse(const char *text, struct cov_codec_choice *out, struct cov_err *e) COV_MUST_USE;

/* Returns the most bytes that cov_codec_encode may write for n bytes. */
size_t cov_codec_bound(struct cov_codec_choice choice, size_t n);

/* Compresses src to dst[0..*n_dst) in the format of the chosen filter: zlib, a format of
 * a registered filter, or a plain copy. dst must have room for cov_codec_bound bytes. Registered
 * filters may set *n_dst = 0, if the result would not be smaller; the chunk is then stored
 * without this filter (see HDF5's filter mask). elem_bytes is the size of an element, for the
 * shuffle of BLOSC (0: no shuffle), or that of a prediction's integers for GZIP and FAST (0: other
 * data).
 * Deterministic. src and dst must not overlap. */
int cov_codec_encode(struct cov_codec_choice choice, size_t elem_bytes, const void *src, size_t n,
                     void *dst, size_t *n_dst, struct cov_err *e) COV_MUST_USE;

/* ---- filter pipelines ---- */

struct cov_filter {
    int id;            /* HDF5's number */
    size_t elem_bytes; /* of SHUFFLE; when encoding, also that of cov_codec_encode */
    int level;         /* ZSTD and BLOSC when encoding */
};

/* Returns true if cov_codec_undo supports the pipeline: it has only filters listed above,
 * shuffle only as the first, and at most one compression and one checksum. `filters` are in the
 * order in which they were applied. */
bool cov_codec_can_undo(const struct cov_filter *filters, size_t n_filters);

/* The filters of a dataset, and which of them a chunk skips: those whose bit in `mask` (HDF5's
 * filter mask) is set. */
struct cov_applied {
    const struct cov_filter *filters;
    size_t n_filters;
    uint32_t mask;
};

/* Returns how many bytes of scratch cov_codec_undo needs for n_dst bytes. */
size_t cov_codec_undo_scratch(size_t n_dst);

/* Sets dst[0..n_dst) to src with the filters undone, the last one first. cov_codec_can_undo must
 * be true for the pipeline. If the data is damaged or has the wrong size, fails with COV_EINPUT
 * and names the filter; dst is then undefined. src, dst and scratch must not overlap. */
int cov_codec_undo(struct cov_applied applied, const void *src, size_t n, void *dst, size_t n_dst,
                   void *scratch, struct cov_err *e) COV_MUST_USE;

/* Returns HDF5's variant of Fletcher's checksum (H5_checksum_fletcher32), over big-endian 16-bit
 * words. If the number of bytes is odd, the last byte is the high half of a word. */
uint32_t cov_fletcher32(const void *data, size_t n);

/* Does HDF5's shuffle: moves byte j of element i to dst[j * n_elems + i]. Bytes after the last
 * whole element keep their positions. elem_bytes > 0. src and dst must not overlap. */
void cov_shuffle(const void *src, size_t n, size_t elem_bytes, void *dst);
void cov_unshuffle(const void *src, size_t n, size_t elem_bytes, void *dst);

/* ---- blobs: growable buffers of encoded pieces, reused for each chunk ---- */

/* Pieces are contiguous: piece i is data[ends[i-1] .. ends[i]), with ends[-1] = 0. The space after
 * n_bytes may be used as scratch. */
struct cov_blob {
    uint8_t *data;
    size_t n_bytes, cap;
    size_t *ends;
    size_t n_pieces, cap_pieces;
};

#define COV_BLOB_INIT                                                                              \
    {                                                                                              \
        0, 0, 0, 0, 0, 0                                                                           \
    }

void cov_blob_clear(struct cov_blob *b); /* keeps the memory */
void cov_blob_fini(struct cov_blob *b);

/* Makes room for n more bytes at the end, uninitialised, and sets *at to their address, which is
 * valid until the next call. */
int cov_blob_room(struct cov_blob *b, size_t n, uint8_t **at, struct cov_err *e) COV_MUST_USE;

/* Adds a piece: the n bytes that the caller wrote to *at. n is at most the number requested. */
int cov_blob_end_piece(struct cov_blob *b, size_t n, struct cov_err *e) COV_MUST_USE;

/* Replaces the pieces of *to by pieces [beg, end) of *from, in no more memory than they need: the
 * scratch space of *from is not copied. cov_blob_copy: by all pieces. */
int cov_blob_copy_pieces(struct cov_blob *to, const struct cov_blob *from, size_t beg, size_t end,
                         struct cov_err *e) COV_MUST_USE;
int cov_blob_copy(struct cov_blob *to, const struct cov_blob *from, struct cov_err *e) COV_MUST_USE;

/* Returns piece i < n_pieces. Borrowed until the next call that changes *b. */
const uint8_t *cov_blob_piece(const struct cov_blob *b, size_t i, size_t *n_bytes);

#endif
