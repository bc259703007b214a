/* zstd.c - Zstandard: a chunk is one frame (RFC 8878) with the size of its contents and a checksum.
 * Creates a context in every call, like deflate.c.
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"

#include <stdbool.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

static int encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst, size_t *n_dst,
                  struct cov_err *e)
{
    (void)elem_bytes;
    *n_dst = 0;
    if (n <= 1)
        return COV_OK;
    ZSTD_CCtx *c = ZSTD_createCCtx();
    if (!c)
        return cov_fail(e, COV_ENOMEM, "out of memory: Zstandard compressor");
    size_t rc = ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
    if (!ZSTD_isError(rc))
        rc = ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    if (!ZSTD_isError(rc))
        rc = ZSTD_compress2(c, dst, n - 1, src, n);
    ZSTD_freeCCtx(c);
    if (!ZSTD_isError(rc))
        *n_dst = rc;
    else if (ZSTD_getErrorCode(rc) != ZSTD_error_dstSize_tooSmall)
        return cov_fail(e, COV_ENOMEM, "zstd: %s", ZSTD_getErrorName(rc));
    return COV_OK;
}

/* Returns true for a current Zstandard frame. libzstd may also decode skippable frames and the
 * formats of its first versions, but no plugin writes them. */
static bool is_frame(const void *src, size_t n)
{
    static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    return n >= sizeof magic && memcmp(src, magic, sizeof magic) == 0;
}

static uint64_t claim_size(const unsigned *values, size_t n_values, const void *src, size_t n)
{
    (void)values, (void)n_values;
    unsigned long long claim = is_frame(src, n) ? ZSTD_getFrameContentSize(src, n) : 0;
    return claim == ZSTD_CONTENTSIZE_ERROR || claim == ZSTD_CONTENTSIZE_UNKNOWN ? 0 : claim;
}

static int decode(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
{
    if (!is_frame(src, n) || ZSTD_findFrameCompressedSize(src, n) != n)
        return cov_fail(e, COV_EINPUT, "zstd: the compressed data is damaged");
    unsigned long long claim = ZSTD_getFrameContentSize(src, n);
    if (claim != ZSTD_CONTENTSIZE_UNKNOWN && claim != n_dst)
        return cov_fail(e, COV_EINPUT, "zstd: %llu bytes instead of the %zu of the chunk", claim,
                        n_dst);
    size_t got = ZSTD_decompress(dst, n_dst, src, n);
    if (ZSTD_isError(got))
        return ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation
                   ? cov_fail(e, COV_ENOMEM, "out of memory: Zstandard decompressor")
                   : cov_fail(e, COV_EINPUT, "zstd: the compressed data is damaged (%s)",
                              ZSTD_getErrorName(got));
    if (got != n_dst)
        return cov_fail(e, COV_EINPUT, "zstd: %zu bytes instead of the %zu of the chunk", got,
                        n_dst);
    return COV_OK;
}

static size_t set_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values)
{
    (void)elem_bytes, (void)chunk_bytes;
    values[0] = (unsigned)level;
    return 1;
}

const struct cov_codec cov_zstd = {
    .name = "zstd",
    .h5_id = COV_H5_ZSTD,
    .level = 3,
    .max_level = 19,
    .shows_level = true,
    .encode = encode,
    .decode = decode,
    .claim = claim_size,
    .values = set_values,
    .library = "Zstandard",
    .version = ZSTD_versionString,
};
