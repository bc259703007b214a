/* codec.h - the filters of HDF5 chunks, as functions on buffers. Independent of libhdf5; all functions are thread-safe.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_CODEC_H
#define COV_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* ---- compressions, named as in --compression ---- */

/* GZIP, FAST and LIBDEFLATE have the same format (HDF5's deflate) and differ in speed and size only. For the bases of a
 * genome file GZIP and FAST are the encoders of onehot.h, elsewhere levels of libdeflate. */
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

/* "gzip", "fast", "libdeflate[:LEVEL]", "lzf", "lz4", "zstd[:LEVEL]", "blosc[:LEVEL]", "none".
 * The message of COV_EUSAGE lists the names. */
int cov_codec_parse(const char *text, struct cov_codec_choice *out, struct cov_err *e) COV_MUST_USE;

/* Bytes that cov_codec_encode may write for n bytes. */
size_t cov_codec_bound(struct cov_codec_choice choice, size_t n);

/* dst[0..*n_dst) = src compressed in the format of the chosen filter: zlib, one of h5_filters.h, or
 * a copy; dst has room for cov_codec_bound bytes. *n_dst = 0 (filters of h5_filters.h only) means
 * that the result is not smaller; the chunk is then stored without this filter (HDF5's filter
 * mask). elem_bytes: size of an element, for the shuffle of BLOSC (0: none). Deterministic. src and
 * dst must not overlap. */
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
    size_t elem_bytes; /* SHUFFLE, and BLOSC when encoding: size of an element */
    int level;         /* ZSTD and BLOSC when encoding */
};

/* Returns true if cov_codec_undo supports the pipeline: only filters of the list above, shuffle
 * only as the first, at most one compression and one checksum. `filters` are in the order in which
 * they were applied. */
bool cov_codec_can_undo(const struct cov_filter *filters, size_t n_filters);

/* The filters of a data set that were applied to a chunk: those whose bit in `mask` (HDF5's filter
 * mask) is not set. */
struct cov_applied {
    const struct cov_filter *filters;
    size_t n_filters;
    uint32_t mask;
};

/* Bytes of scratch that cov_codec_undo needs for n_dst bytes. */
size_t cov_codec_undo_scratch(size_t n_dst);

/* dst[0..n_dst) = src with the filters undone, the last one first. The pipeline must be one that
 * cov_codec_can_undo supports. COV_EINPUT, naming the filter, if the data is damaged or has the
 * wrong size; dst is then undefined. src, dst and scratch must not overlap. */
int cov_codec_undo(struct cov_applied applied, const void *src, size_t n, void *dst, size_t n_dst,
                   void *scratch, struct cov_err *e) COV_MUST_USE;

/* values[] = the parameters that the plugin of LZF, LZ4, ZSTD or BLOSC stores with a data set (client data of HDF5's
 * filter message); returns how many. */
enum { COV_CODEC_MAX_VALUES = 7 };
size_t cov_codec_values(const struct cov_filter *filter, size_t chunk_bytes,
                        unsigned values[COV_CODEC_MAX_VALUES]);

/* The chunk size stated in the header of the compressed data, which cannot be trusted; 0 if it is
 * damaged, or for compressions without such a header (DEFLATE, LZF). */
uint64_t cov_codec_claim(int id, const void *src, size_t n);

/* HDF5's variant of Fletcher's checksum (H5_checksum_fletcher32): big-endian 16-bit words; an odd
 * last byte is the high half of a word. */
uint32_t cov_fletcher32(const void *data, size_t n);

/* HDF5's shuffle: byte j of element i goes to dst[j * n_elems + i]; bytes after the last whole
 * element keep their position. elem_bytes > 0. src and dst must not overlap. */
void cov_shuffle(const void *src, size_t n, size_t elem_bytes, void *dst);
void cov_unshuffle(const void *src, size_t n, size_t elem_bytes, void *dst);

#endif
