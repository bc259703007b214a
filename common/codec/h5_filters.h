/* h5_filters.h - the registered HDF5 filters that compress: LZF, Blosc, LZ4 and Zstandard. Each has
 * a .c file named after it; codec.h combines them into pipelines.
 *
 * All have the same functions:
 *   encode: dst[0..*n_dst) = src compressed, with room for n bytes at dst; *n_dst = 0 if that is not smaller.
 *   decode: dst[0..n_dst) = the contents of src; COV_EINPUT if it is damaged or has the wrong size.
 *   claim: the size of the contents stated in the header of src, which cannot be trusted; 0 if there is none.
 *   version: of the library, for --version.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_H5_FILTERS_H
#define COV_CODEC_H5_FILTERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* LZF, h5py's filter 32000: the chunk as one block of liblzf, without any header. */
int cov_lzf_encode(const void *src, size_t n, void *dst, size_t *n_dst,
                   struct cov_err *e) COV_MUST_USE;
int cov_lzf_decode(const void *src, size_t n, void *dst, size_t n_dst,
                   struct cov_err *e) COV_MUST_USE;

/* Blosc, filter 32001: the chunk as one Blosc 1 buffer, compressed with Zstandard; Blosc does the
 * shuffle itself. level 1..9; elem_bytes: size of an element, for the shuffle; 0: none. Decodes any
 * compressor and shuffle; COV_EUNSUPPORTED for a compressor that this libblosc lacks. */
int cov_blosc_encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst,
                     size_t *n_dst, struct cov_err *e) COV_MUST_USE;
int cov_blosc_decode(const void *src, size_t n, void *dst, size_t n_dst,
                     struct cov_err *e) COV_MUST_USE;
uint64_t cov_blosc_claim(const void *src, size_t n);
/* values[0..7) = the parameters that the filter stores in a file: version of the filter and of Blosc's format, bytes
 * of an element and of a chunk, level, shuffle (0: none, 1: bytes, 2: bits), compressor. Returns 7. */
size_t cov_blosc_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values);
const char *cov_blosc_version(void);

/* LZ4, filter 32004, in the format of the HDF5 LZ4 plugin. All numbers are big-endian: 8 bytes, the size of the
 * chunk; 4 bytes, the size of a block; then per block (the last may be shorter) 4 bytes, its compressed size, and its
 * data, which is not compressed if that is the size of the block. */
int cov_lz4_encode(const void *src, size_t n, void *dst, size_t *n_dst,
                   struct cov_err *e) COV_MUST_USE;
int cov_lz4_decode(const void *src, size_t n, void *dst, size_t n_dst,
                   struct cov_err *e) COV_MUST_USE;
uint64_t cov_lz4_claim(const void *src, size_t n);
const char *cov_lz4_version(void);

/* Zstandard, filter 32015: the chunk as one frame (RFC 8878) with its size and a checksum. level 1..19. */
int cov_zstd_encode(int level, const void *src, size_t n, void *dst, size_t *n_dst,
                    struct cov_err *e) COV_MUST_USE;
int cov_zstd_decode(const void *src, size_t n, void *dst, size_t n_dst,
                    struct cov_err *e) COV_MUST_USE;
uint64_t cov_zstd_claim(const void *src, size_t n);
const char *cov_zstd_version(void);

#endif
