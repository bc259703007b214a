/* codec.h - the filters for HDF5 chunks, as functions on buffers. Does not use libhdf5. All
 * functions are thread-safe.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_CODEC_H
#define COV_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* ---- compressions, named as in --compression ---- */

/* GZIP, FAST and LIBDEFLATE write the same format (HDF5's deflate) and differ only in speed and
 * size. GZIP and FAST use the encoders of onehot.h for the bases of a genome file, that of tokens.h
 * for integers of predictions, and levels of libdeflate for other data. */
enum cov_codec_id {
    COV_CODEC_NONE,
    COV_CODEC_GZIP,
    COV_CODEC_FAST,
    COV_CODEC_LIBDEFLATE,
    COV_CODEC_LZF,
    COV_CODEC_LZ4,
    COV_CODEC_ZSTD,
    COV_CODEC_BLOSC
};

struct cov_codec_choice {
    enum cov_codec_id id;
    int level; /* LIBDEFLATE: 1..12, ZSTD: 1..19, BLOSC: 1..9; others: 0 */
};

/* Parses "gzip", "fast", "libdeflate[:LEVEL]", "lzf", "lz4", "zstd[:LEVEL]", "blosc[:LEVEL]" or
 * "none". Otherwise fails with COV_EUSAGE and lists these names. */
int cov_codec_parse(const char *text, struct cov_codec_choice *out, struct cov_err *e) COV_MUST_USE;

/* Returns the most bytes that cov_codec_encode may write for n bytes. */
size_t cov_codec_bound(struct cov_codec_choice choice, size_t n);

/* Compresses src to dst[0..*n_dst) in the format of the chosen filter: zlib, a format of
 * h5_filters.h, or a plain copy. dst must have room for cov_codec_bound bytes. Filters of
 * h5_filters.h may set *n_dst = 0, if the result would not be smaller; the chunk is then stored
 * without this filter (see HDF5's filter mask). elem_bytes is the size of an element, for the
 * shuffle of BLOSC (0: no shuffle), or that of a prediction's integers for GZIP and FAST (0: other
 * data).
 * Deterministic. src and dst must not overlap. */
int cov_codec_encode(struct cov_codec_choice choice, size_t elem_bytes, const void *src, size_t n,
                     void *dst, size_t *n_dst, struct cov_err *e) COV_MUST_USE;

/* ---- filter pipelines, with HDF5's filter numbers ---- */

enum {
    COV_H5_DEFLATE = 1,
    COV_H5_SHUFFLE = 2,
    COV_H5_FLETCHER32 = 3,
    COV_H5_LZF = 32000,
    COV_H5_BLOSC = 32001,
    COV_H5_LZ4 = 32004,
    COV_H5_ZSTD = 32015
};

struct cov_filter {
    int id;            /* HDF5's number */
    size_t elem_bytes; /* of SHUFFLE; when encoding, also that of cov_codec_encode */
    int level;         /* ZSTD and BLOSC when encoding */
};

/* Returns true if cov_codec_undo supports the pipeline: it has only filters listed above,
 * shuffle only as the first, and at most one compression and one checksum. `filters` are in the
 * order in which they were applied. */
bool cov_codec_can_undo(const struct cov_filter *filters, size_t n_filters);

/* The filters of a data set, of which those whose bit in `mask` (HDF5's filter mask) is not set
 * were applied to a chunk. */
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

/* Fills values[] with the parameters that the plugin of LZF, LZ4, ZSTD or BLOSC stores with a
 * data set (the client data in HDF5's filter message). Returns the number of parameters. */
enum { COV_CODEC_MAX_VALUES = 7 };
size_t cov_codec_values(const struct cov_filter *filter, size_t chunk_bytes,
                        unsigned values[COV_CODEC_MAX_VALUES]);

/* Returns the chunk size stated in the header of the compressed data, which cannot be trusted.
 * Returns 0 if the header is damaged, and for compressions without such a header (DEFLATE, LZF). */
uint64_t cov_codec_claim(int id, const void *src, size_t n);

/* Returns HDF5's variant of Fletcher's checksum (H5_checksum_fletcher32), over big-endian 16-bit
 * words. If the number of bytes is odd, the last byte is the high half of a word. */
uint32_t cov_fletcher32(const void *data, size_t n);

/* Does HDF5's shuffle: moves byte j of element i to dst[j * n_elems + i]. Bytes after the last
 * whole element keep their positions. elem_bytes > 0. src and dst must not overlap. */
void cov_shuffle(const void *src, size_t n, size_t elem_bytes, void *dst);
void cov_unshuffle(const void *src, size_t n, size_t elem_bytes, void *dst);

#endif
