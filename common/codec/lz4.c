/* lz4.c - LZ4, in the format of the HDF5 LZ4 plugin. All numbers are big-endian: the size of the chunk
 * (8 bytes) and the size of a block (4 bytes); then, for each block (the last may be shorter), its
 * compressed size (4 bytes) and its data. If the compressed size equals the size of the block, the
 * data is not compressed.
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"

#include <lz4.h>
#include <string.h>

/* The plugin's default block size is the size of the chunk, limited to MAX_BLOCK_BYTES. */
enum { HEAD_BYTES = 12, BLOCK_HEAD_BYTES = 4, MAX_BLOCK_BYTES = 1 << 30 };

static uint64_t get_big_endian(const uint8_t *p, int n_bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < n_bytes; i++)
        x = x << 8 | p[i];
    return x;
}

static void put_big_endian(uint8_t *p, int n_bytes, uint64_t x)
{
    for (int i = n_bytes; i-- > 0; x >>= 8)
        p[i] = (uint8_t)x;
}

static int encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst, size_t *n_dst,
                  struct cov_err *e)
{
    (void)level, (void)elem_bytes, (void)e;
    const uint8_t *from = src;
    uint8_t *to = dst, *end = to + n;
    size_t block = n < MAX_BLOCK_BYTES ? n : MAX_BLOCK_BYTES;
    *n_dst = 0;
    if (n <= HEAD_BYTES)
        return COV_OK;
    put_big_endian(to, 8, n);
    put_big_endian(to + 8, 4, block);
    to += HEAD_BYTES;
    for (size_t left = n; left > 0; left -= block, from += block) {
        if (block > left)
            block = left;
        size_t room = (size_t)(end - to);
        if (room <= BLOCK_HEAD_BYTES)
            return COV_OK;
        room -= BLOCK_HEAD_BYTES;
        /* A block that does not become smaller is stored uncompressed. */
        size_t cap = room < block ? room : block - 1;
        size_t packed = (size_t)LZ4_compress_default(
            (const char *)from, (char *)to + BLOCK_HEAD_BYTES, (int)block, (int)cap);
        if (packed == 0) {
            if (room < block)
                return COV_OK;
            memcpy(to + BLOCK_HEAD_BYTES, from, block);
            packed = block;
        }
        put_big_endian(to, BLOCK_HEAD_BYTES, packed);
        to += BLOCK_HEAD_BYTES + packed;
    }
    if (to < end)
        *n_dst = (size_t)(to - (uint8_t *)dst);
    return COV_OK;
}

static uint64_t claim_size(const unsigned *values, size_t n_values, const void *src, size_t n)
{
    (void)values, (void)n_values;
    return n < HEAD_BYTES ? 0 : get_big_endian(src, 8);
}

static int decode(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
{
    static const char damaged[] = "lz4: the compressed data is damaged";
    const uint8_t *from = src;
    uint8_t *to = dst;
    if (n < HEAD_BYTES)
        return cov_fail(e, COV_EINPUT, "%s", damaged);
    uint64_t claim = get_big_endian(from, 8);
    size_t block = (size_t)get_big_endian(from + 8, 4);
    if (claim != n_dst)
        return cov_fail(e, COV_EINPUT, "lz4: %llu bytes instead of the %zu of the chunk",
                        (unsigned long long)claim, n_dst);
    if (block > n_dst)
        block = n_dst;
    if ((block == 0 && n_dst > 0) || block > LZ4_MAX_INPUT_SIZE)
        return cov_fail(e, COV_EINPUT, "%s", damaged);
    from += HEAD_BYTES;
    n -= HEAD_BYTES;
    for (size_t left = n_dst; left > 0; left -= block, to += block) {
        if (block > left)
            block = left;
        if (n < BLOCK_HEAD_BYTES)
            return cov_fail(e, COV_EINPUT, "%s", damaged);
        size_t packed = (size_t)get_big_endian(from, BLOCK_HEAD_BYTES);
        from += BLOCK_HEAD_BYTES;
        n -= BLOCK_HEAD_BYTES;
        if (packed > n || packed > LZ4_MAX_INPUT_SIZE)
            return cov_fail(e, COV_EINPUT, "%s", damaged);
        if (packed == block)
            memcpy(to, from, block);
        else if (LZ4_decompress_safe((const char *)from, (char *)to, (int)packed, (int)block) !=
                 (int)block)
            return cov_fail(e, COV_EINPUT, "%s", damaged);
        from += packed;
        n -= packed;
    }
    return n == 0 ? COV_OK : cov_fail(e, COV_EINPUT, "%s", damaged);
}

static size_t set_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values)
{
    (void)level, (void)elem_bytes, (void)chunk_bytes;
    values[0] = 0; /* block size: the plugin's default */
    return 1;
}

const struct cov_codec cov_lz4 = {
    .name = "lz4",
    .h5_id = COV_H5_LZ4,
    .encode = encode,
    .decode = decode,
    .claim = claim_size,
    .values = set_values,
    .library = "LZ4",
    .version = LZ4_versionString,
};
