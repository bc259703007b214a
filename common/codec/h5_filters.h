/* h5_filters.h - the registered HDF5 filters that compress: LZF, Blosc, LZ4 and Zstandard, as rows of
 * the table in codec.c. Each has a .c file named after it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_H5_FILTERS_H
#define COV_CODEC_H5_FILTERS_H

struct cov_codec;

/* LZF, h5py's filter: the chunk is one block of liblzf, without any header. */
extern const struct cov_codec cov_lzf;

/* Blosc: the chunk is one Blosc 1 buffer, compressed with Zstandard; Blosc does the shuffle itself.
 * Decodes any compressor and shuffle, but fails with COV_EUNSUPPORTED for a compressor that this
 * libblosc lacks. The values are the versions of the filter and of Blosc's format, the bytes in an
 * element and in a chunk, the level, the shuffle (0: none, 1: bytes, 2: bits) and the compressor. */
extern const struct cov_codec cov_blosc;

/* LZ4, in the format of the HDF5 LZ4 plugin. All numbers are big-endian: the size of the chunk (8
 * bytes) and the size of a block (4 bytes); then, for each block (the last may be shorter), its
 * compressed size (4 bytes) and its data. If the compressed size equals the size of the block, the
 * data is not compressed. */
extern const struct cov_codec cov_lz4;

/* Zstandard: the chunk is one frame (RFC 8878) with the size of its contents and a checksum. */
extern const struct cov_codec cov_zstd;

#endif
