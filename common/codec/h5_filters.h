/* h5_filters.h - the registered HDF5 filters that compress: LZF, Blosc, LZ4 and Zstandard. Each has
 * a .c file named after it; codec.h combines them into pipelines.
 *
 * All have the same functions:
 *   encode: compresses src to dst[0..*n_dst), with room for n bytes; *n_dst = 0 if not smaller.
 *   decode: decompresses src to dst[0..n_dst); COV_EINPUT if src is damaged or has the wrong size.
 *   claim: returns the contents' size stated in the header of src (not to be trusted); 0: none.
 *   version: returns the version of the library, for --version.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_H5_FILTERS_H
#define COV_CODEC_H5_FILTERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* LZF, h5py's filter 32000: the chunk is one block of liblzf, without any header. */
int cov_lzf_encode(const void *src, size_t n, void *dst, size_t *n_dst,
                   struct cov_err *e) COV_MUST_USE;
int cov_lzf_decode(const void *src, size_t n, void *dst, size_t n_dst,
                   struct cov_err *e) COV_MUST_USE;

/* Blosc, filter 32001: the chunk is one Blosc 1 buffer, compressed with Zstandard; Blosc does
 * the shuffle itself. `level` is 1..9; `elem_bytes` is the size of an element, for the shuffle
 * (0: no shuffle). Decodes any compressor and shuffle, but fails with COV_EUNSUPPORTED for a
 * compressor that this libblosc lacks. */
int cov_blosc_encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst,
                     size_t *n_dst, struct cov_err *e) COV_MUST_USE;
int cov_blosc_decode(const void *src, size_t n, void *dst, size_t n_dst,
                     struct cov_err *e) COV_MUST_USE;
uint64_t cov_blosc_claim(const void *src, size_t n);
/* Sets values[0..7) to the parameters that the filter stores in a file: the versions of the
 * filter and of Blosc's format, the bytes in an element and in a chunk, the level, the shuffle
 * (0: none, 1: bytes, 2: bits) and the compressor. Returns 7. */
size_t cov_blosc_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values);
const char *cov_blosc_version(void);

/* LZ4, filter 32004, in the format of the HDF5 LZ4 plugin. All numbers are big-endian: the size
 * of the chunk (8 bytes) and the size of a block (4 bytes); then, for each block (the last may
 * be shorter), its compressed size (4 bytes) and its data. If the compressed size equals the
 * size of the block, the data is not compressed. */
int cov_lz4_encode(const void *src, size_t n, void *dst, size_t *n_dst,
                   struct cov_err *e) COV_MUST_USE;
int cov_lz4_decode(const void *src, size_t n, void *dst, size_t n_dst,
                   struct cov_err *e) COV_MUST_USE;
uint64_t cov_lz4_claim(const void *src, size_t n);
const char *cov_lz4_version(void);

/* Zstandard, filter 32015: the chunk is one frame (RFC 8878) with the size of its contents and a
 * checksum. `level` is 1..19. */
int cov_zstd_encode(int level, const void *src, size_t n, void *dst, size_t *n_dst,
                    struct cov_err *e) COV_MUST_USE;
int cov_zstd_decode(const void *src, size_t n, void *dst, size_t n_dst,
                    struct cov_err *e) COV_MUST_USE;
uint64_t cov_zstd_claim(const void *src, size_t n);
const char *cov_zstd_version(void);

#endif
