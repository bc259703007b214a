/* codec.h - the filters that chunks of HDF5 data sets pass through, as plain functions on buffers.
 *
 * Nothing here knows HDF5. All functions are thread-safe.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_CODEC_H
#define COV_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* ---- compressions, by the names of --compression ---- */

/* GZIP, FAST and LIBDEFLATE are the same format (HDF5's deflate) and differ in time and size only.
 * For the bases of a genome file GZIP and FAST stand for the encoders of onehot.h; elsewhere for
 * levels of libdeflate. */
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
    int level; /* of LIBDEFLATE 1..12, ZSTD 1..19, BLOSC 1..9; others 0 */
};

/* "gzip", "fast", "libdeflate[:LEVEL]", "lzf", "lz4", "zstd[:LEVEL]", "blosc[:LEVEL]", "none".
 * COV_EUSAGE lists the names. */
int cov_codec_parse(const char *text, struct cov_codec_choice *out, struct cov_err *e) COV_MUST_USE;

/* Bytes that cov_codec_encode needs at dst for n bytes. */
size_t cov_codec_bound(struct cov_codec_choice choice, size_t n);

/* dst[0..*n_dst) = src compressed, as the filter of the choice stores it: zlib format, what lzf.h,
 * lz4.h, zstd.h and blosc.h describe, or a copy. *n_dst = 0, of the last four: it did not become
 * smaller; the chunk is then stored without this filter (HDF5's filter mask). elem_bytes: of BLOSC,
 * which shuffles for itself, the bytes of an element (0: no shuffle). The same bytes for the same
 * input. src and dst must not overlap. */
int cov_codec_encode(struct cov_codec_choice choice, size_t elem_bytes, const void *src, size_t n,
                     void *dst, size_t cap, size_t *n_dst, struct cov_err *e) COV_MUST_USE;

/* ---- filter pipelines, by HDF5's numbers ---- */

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
    size_t elem_bytes; /* of SHUFFLE, and of BLOSC when it encodes */
    int level;         /* of ZSTD and BLOSC when they encode */
};

/* Whether cov_codec_undo can: nothing but those above, shuffle only as the first, at most one
 * compression and one checksum. `filters` stand in the order in which they were applied. */
bool cov_codec_can_undo(const struct cov_filter *filters, size_t n_filters);

/* Bytes of scratch that cov_codec_undo needs for n_dst bytes. */
size_t cov_codec_undo_scratch(size_t n_dst);

/* Undoes filters[n_filters-1] .. filters[0], leaving out those whose bit in `mask` is set, into
 * dst, which must come out as exactly n_dst bytes. The pipeline must be one that cov_codec_can_undo
 * allows. COV_EINPUT, naming the filter, when the data is damaged or has another size; dst is
 * undefined then. src, dst and scratch must not overlap. */
int cov_codec_undo(const struct cov_filter *filters, size_t n_filters, uint32_t mask,
                   const void *src, size_t n, void *dst, size_t n_dst, void *scratch,
                   struct cov_err *e) COV_MUST_USE;

/* values[] = the parameters that the filter's own plugin stores with a data set (client data of
 * HDF5's filter message), of LZF, LZ4, ZSTD and BLOSC; returns how many. */
enum { COV_CODEC_MAX_VALUES = 7 };
size_t cov_codec_values(const struct cov_filter *filter, size_t chunk_bytes,
                        unsigned values[COV_CODEC_MAX_VALUES]);

/* The size of the chunk that compressed data claims to hold, not to be trusted; 0 when it is
 * damaged, or a compression without such a claim (DEFLATE, LZF). */
uint64_t cov_codec_claim(int id, const void *src, size_t n);

/* HDF5's variant of Fletcher's checksum (H5_checksum_fletcher32): big-endian 16-bit words, an odd
 * last byte as the high half of a word. */
uint32_t cov_fletcher32(const void *data, size_t n);

/* HDF5's shuffle: byte j of element i goes to dst[j * n_elems + i]; bytes behind the last whole
 * element stay where they are. elem_bytes > 0. src and dst must not overlap. */
void cov_shuffle(const void *src, size_t n, size_t elem_bytes, void *dst);
void cov_unshuffle(const void *src, size_t n, size_t elem_bytes, void *dst);

#endif
