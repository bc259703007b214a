/* codec.h - the filters that chunks of HDF5 data sets pass through, as plain functions on buffers.
 *
 * Nothing here knows HDF5: store/h5.c applies these to raw chunks, and registers with libhdf5 those that it lacks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_CODEC_H
#define COV_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Compressions by the names of --compression. */
enum cov_codec_id { COV_CODEC_NONE, COV_CODEC_GZIP, COV_CODEC_LIBDEFLATE, COV_CODEC_LZF };

struct cov_codec_choice {
    enum cov_codec_id id;
    int level; /* of LIBDEFLATE 1..12; others 0 */
};

/* "gzip", "libdeflate[:LEVEL]", "lzf", "none". COV_EUSAGE lists the names. */
int cov_codec_parse(const char *text, struct cov_codec_choice *out, struct cov_err *e) COV_MUST_USE;

/* HDF5's filter numbers. */
enum { COV_H5_DEFLATE = 1, COV_H5_SHUFFLE = 2, COV_H5_FLETCHER32 = 3, COV_H5_LZF = 32000 };

/* Bytes that cov_codec_encode may write at most for n bytes. */
size_t cov_codec_bound(struct cov_codec_choice choice, size_t n);

/* dst[0..*n_dst) = src compressed (zlib format, raw LZF, or a copy). *n_dst = 0: LZF did not make it smaller; the chunk is then stored with this
 * filter left out (HDF5's filter mask). Thread-safe. */
int cov_codec_encode(struct cov_codec_choice choice, const void *src, size_t n, void *dst,
                     size_t cap, size_t *n_dst, struct cov_err *e) COV_MUST_USE;

/* Undoes filter `h5_filter` into dst, which must come out as exactly n_dst bytes. COV_EINPUT when the data is damaged or another size. */
int cov_codec_decode(int h5_filter, const void *src, size_t n, void *dst, size_t n_dst,
                     struct cov_err *e) COV_MUST_USE;
/* Whether cov_codec_decode, unshuffle included, knows it. */
bool cov_codec_knows(int h5_filter);

/* HDF5's shuffle: byte j of element i goes to dst[j * n_elems + i]; bytes behind the last whole element stay. */
void cov_shuffle(const void *src, size_t n, size_t elem_bytes, void *dst);
void cov_unshuffle(const void *src, size_t n, size_t elem_bytes, void *dst);

#endif
