/* blosc.c - Blosc: a chunk is one Blosc 1 buffer, compressed with Zstandard; Blosc does the shuffle
 * itself. Decodes any compressor and shuffle, but fails with COV_EUNSUPPORTED for a compressor that
 * this libblosc lacks. The values are the versions of the filter and of Blosc's format, the bytes in
 * an element and in a chunk, the level, the shuffle (0: none, 1: bytes, 2: bits) and the compressor.
 *
 * Uses only libblosc's context functions, which take no lock and read no environment variables,
 * with one thread.
 *
 * The compressor is Zstandard, because LZ4 needs up to twice as many bytes and does not decode
 * faster here. Elements of two bytes (the one-hot matrix) are shuffled by bits: four of their
 * sixteen bit planes are equal and the rest are nearly empty, so the result is half as large as
 * with a shuffle by bytes. Coverage compresses equally well when shuffled by bytes, and then
 * decodes faster.
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"

#include <blosc.h>

enum { FILTER_VERSION = 2 }; /* version of the HDF5 plugin */

static int type_size(size_t elem_bytes)
{
    return elem_bytes > 0 && elem_bytes <= BLOSC_MAX_TYPESIZE ? (int)elem_bytes : 1;
}

static int shuffle_of(size_t elem_bytes)
{
    int size = type_size(elem_bytes);
    return size == 1 ? BLOSC_NOSHUFFLE : size == 2 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
}

enum { LEVEL = 4 }; /* a value */

static size_t set_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values)
{
    values[0] = FILTER_VERSION;
    values[1] = BLOSC_VERSION_FORMAT;
    values[2] = (unsigned)type_size(elem_bytes);
    values[3] = (unsigned)chunk_bytes;
    values[LEVEL] = (unsigned)level;
    values[5] = (unsigned)shuffle_of(elem_bytes);
    values[6] = BLOSC_ZSTD;
    return 7;
}

static int encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst, size_t *n_dst,
                  struct cov_err *e)
{
    *n_dst = 0;
    if (n > BLOSC_MAX_BUFFERSIZE)
        return cov_fail(e, COV_EUNSUPPORTED, "blosc: a chunk of %zu bytes is too large", n);
    if (blosc_compname_to_compcode(BLOSC_ZSTD_COMPNAME) < 0)
        return cov_fail(e, COV_EUNSUPPORTED, "blosc: this libblosc was built without Zstandard");
    if (n <= BLOSC_MIN_HEADER_LENGTH)
        return COV_OK;
    int got = blosc_compress_ctx(level, shuffle_of(elem_bytes), (size_t)type_size(elem_bytes), n,
                                 src, dst, n - 1, BLOSC_ZSTD_COMPNAME, 0, 1);
    if (got < 0)
        return cov_fail(e, COV_ENOMEM, "blosc: the compressor failed");
    *n_dst = (size_t)got;
    return COV_OK;
}

static uint64_t claim_size(const unsigned *values, size_t n_values, const void *src, size_t n)
{
    (void)values, (void)n_values;
    size_t claim;
    return n >= BLOSC_MIN_HEADER_LENGTH && blosc_cbuffer_validate(src, n, &claim) == 0 ? claim : 0;
}

/* Checks for the compressor before decoding, because libblosc prints a message if it lacks it. */
static int check_compressor(const uint8_t *src, struct cov_err *e)
{
    static const char *const names[] = {
        [BLOSC_BLOSCLZ_FORMAT] = BLOSC_BLOSCLZ_COMPNAME, [BLOSC_LZ4_FORMAT] = BLOSC_LZ4_COMPNAME,
        [BLOSC_SNAPPY_FORMAT] = BLOSC_SNAPPY_COMPNAME,   [BLOSC_ZLIB_FORMAT] = BLOSC_ZLIB_COMPNAME,
        [BLOSC_ZSTD_FORMAT] = BLOSC_ZSTD_COMPNAME,
    };
    unsigned format = src[2] >> 5; /* format bits of the flags */
    if (format >= COV_COUNT(names))
        return cov_fail(e, COV_EINPUT, "blosc: the compressed data is damaged");
    if (blosc_compname_to_compcode(names[format]) < 0)
        return cov_fail(e, COV_EUNSUPPORTED, "blosc: this libblosc was built without %s",
                        names[format]);
    return COV_OK;
}

static int decode(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
{
    static const char damaged[] = "blosc: the compressed data is damaged";
    size_t claim, claim_again, packed, block, type;
    int flags;
    if (n < BLOSC_MIN_HEADER_LENGTH || blosc_cbuffer_validate(src, n, &claim))
        return cov_fail(e, COV_EINPUT, "%s", damaged);
    if (claim != n_dst)
        return cov_fail(e, COV_EINPUT, "blosc: %zu bytes instead of the %zu of the chunk", claim,
                        n_dst);
    blosc_cbuffer_sizes(src, &claim_again, &packed, &block);
    blosc_cbuffer_metainfo(src, &type, &flags);
    if (packed != n || type == 0 || (n_dst > 0 && (block == 0 || block > n_dst)))
        return cov_fail(e, COV_EINPUT, "%s", damaged);
    int rc = check_compressor(src, e);
    if (rc)
        return rc;
    if (blosc_decompress_ctx(src, dst, n_dst, 1) != (int)n_dst)
        return cov_fail(e, COV_EINPUT, "%s", damaged);
    return COV_OK;
}

const struct cov_codec cov_blosc = {
    .name = "blosc",
    .h5_id = COV_H5_BLOSC,
    .level = 1,
    .max_level = 9,
    .shows_level = true,
    .level_value = LEVEL,
    .shuffles = true,
    .encode = encode,
    .decode = decode,
    .claim = claim_size,
    .values = set_values,
    .library = "Blosc",
    .version = blosc_get_version_string,
};
