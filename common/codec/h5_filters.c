/* h5_filters.c - the registered HDF5 filters that compress: LZF, LZ4, Zstandard and Blosc. Each is an
 * entry of cov_codecs in codec.c. All work on one chunk, in one thread, and keep no state.
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"

#include <blosc.h>
#include <limits.h>
#include <lz4.h>
#include <lzf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "common/deflate/bits.h"

/* ---- LZF ---- */

/* LZF, h5py's filter: a chunk is one block of liblzf, without any header. Decodes with liblzf;
 * the encoder is our own, for speed.
 *
 * A block is a sequence of tokens. A token of literals is a byte c < 32, then c + 1 bytes. A match
 * is a byte n << 5 | d >> 8 (n > 0; if n = 7, the next byte is added to n), then the byte d & 255;
 * it copies n + 2 bytes that begin d + 1 bytes earlier. */

enum {
    MAX_LITERAL = 32,
    MIN_MATCH = 3,
    WORD = COV_WORD_BYTES,
    MAX_MATCH = 7 + 255 + 2,
    MAX_DISTANCE = 1 << 13,
    /* Two bytes per entry, so that the table fits into the L1 cache. */
    HASH_BITS = 13
};

/* Hashes the first three bytes. */
static inline uint32_t hash(uint64_t word)
{
    return ((uint32_t)word << 8) * 2654435761U >> (32 - HASH_BITS);
}

struct tokens {
    uint8_t *to;
    size_t room;
};

/* Writes the n bytes at p as literals. Bytes up to `end` may be read. Returns false if there is
 * no room. */
static inline bool put_literals(struct tokens *t, const uint8_t *p, size_t n, const uint8_t *end)
{
    if (n <= 16 && t->room > 16 && end - p >= 16) {
        /* Most runs of literals are short, so this copies 16 bytes; the surplus is overwritten
         * later. */
        t->to[0] = (uint8_t)(n - 1);
        memcpy(t->to + 1, p, 16);
        size_t taken = n + (n > 0);
        t->to += taken;
        t->room -= taken;
        return true;
    }
    for (size_t m; n > 0; n -= m, p += m) {
        m = n < MAX_LITERAL ? n : MAX_LITERAL;
        if (t->room < m + 1)
            return false;
        t->to[0] = (uint8_t)(m - 1);
        memcpy(t->to + 1, p, m);
        t->to += m + 1;
        t->room -= m + 1;
    }
    return true;
}

static inline bool put_match(struct tokens *t, size_t n, size_t distance)
{
    if (t->room < 3)
        return false;
    size_t d = distance - 1, code = n - 2;
    bool is_long = code >= 7;
    t->to[0] = (uint8_t)((is_long ? 7 : code) << 5 | d >> 8);
    t->to[1] = (uint8_t)(is_long ? code - 7 : d);
    t->to[2] = (uint8_t)d; /* overwritten later if not used */
    t->to += 2 + is_long;
    t->room -= 2 + (size_t)is_long;
    return true;
}

/* As in liblzf, a table holds the last position of each sequence of three bytes; for a match,
 * only its first and last positions are entered. Positions are modulo 2^16; an empty or old
 * entry is compared like any other. Returns 0 if the result exceeds `room`. */
static size_t encode_block(const uint8_t *src, size_t n, uint8_t *dst, size_t room)
{
    uint16_t last[1 << HASH_BITS];
    memset(last, 0, sizeof last);
    struct tokens t = {dst, room};
    size_t i = 0, literal = 0; /* [literal, i) are pending literals */
    while (i + WORD <= n) {
        uint64_t word = cov_load64(src + i);
        uint16_t *entry = &last[hash(word)];
        size_t d = (uint16_t)(i - *entry);
        *entry = (uint16_t)i;
        if (d - 1 >= MAX_DISTANCE || d > i) {
            i++;
            continue;
        }
        uint64_t differ = word ^ cov_load64(src + i - d);
        size_t length = differ ? (size_t)__builtin_ctzll(differ) / 8 : WORD;
        if (length < MIN_MATCH) {
            i++;
            continue;
        }
        if (length == WORD) {
            size_t most = n - i < MAX_MATCH ? n - i : MAX_MATCH;
            length += cov_common_bytes(src + i + WORD, src + i + WORD - d, most - WORD);
        }
        if (literal < i && !put_literals(&t, src + literal, i - literal, src + n))
            return 0;
        if (!put_match(&t, length, d))
            return 0;
        i += length;
        literal = i;
        if (i + WORD - 1 <= n)
            last[hash(cov_load64(src + i - 1))] = (uint16_t)(i - 1);
    }
    if (!put_literals(&t, src + literal, n - literal, src + n))
        return 0;
    return (size_t)(t.to - dst);
}

static int lzf_encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst,
                      size_t *n_dst, struct cov_err *e)
{
    (void)level, (void)elem_bytes;
    if (n > UINT_MAX)
        return cov_fail(e, COV_EUNSUPPORTED, "lzf: a chunk of %zu bytes is too large", n);
    *n_dst = n > 1 ? encode_block(src, n, dst, n - 1) : 0;
    return COV_OK;
}

static int lzf_decode(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
{
    if (n == 0 || n > UINT_MAX || n_dst > UINT_MAX)
        return cov_fail(e, COV_EINPUT, "lzf: %zu bytes for a chunk of %zu", n, n_dst);
    unsigned got = lzf_decompress(src, (unsigned)n, dst, (unsigned)n_dst);
    if (got != n_dst)
        return cov_fail(e, COV_EINPUT, "lzf: the compressed data is damaged");
    return COV_OK;
}

enum { LZF_CHUNK_BYTES = 2 }; /* a value */

static uint64_t lzf_claim_size(const unsigned *values, size_t n_values, const void *src, size_t n)
{
    (void)src, (void)n;
    return n_values > LZF_CHUNK_BYTES ? values[LZF_CHUNK_BYTES] : 0;
}

static size_t lzf_set_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values)
{
    (void)level, (void)elem_bytes;
    values[0] = 4; /* versions of the filter and of liblzf */
    values[1] = 0x0105;
    values[LZF_CHUNK_BYTES] = (unsigned)chunk_bytes;
    return 3;
}

const struct cov_codec cov_lzf = {
    .name = "lzf",
    .h5_id = COV_H5_LZF,
    .encode = lzf_encode,
    .decode = lzf_decode,
    .claim = lzf_claim_size,
    .values = lzf_set_values,
};

/* ---- LZ4 ---- */

/* LZ4, in the format of the HDF5 LZ4 plugin. All numbers are big-endian: the size of the chunk
 * (8 bytes) and the size of a block (4 bytes); then, for each block (the last may be shorter), its
 * compressed size (4 bytes) and its data. If the compressed size equals the size of the block, the
 * data is not compressed. */

/* The plugin's default block size is the size of the chunk, limited to LZ4_MAX_BLOCK. */
enum { LZ4_HEAD = 12, LZ4_BLOCK_HEAD = 4, LZ4_MAX_BLOCK = 1 << 30 };

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

static int lz4_encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst,
                      size_t *n_dst, struct cov_err *e)
{
    (void)level, (void)elem_bytes, (void)e;
    const uint8_t *from = src;
    uint8_t *to = dst, *end = to + n;
    size_t block = n < LZ4_MAX_BLOCK ? n : LZ4_MAX_BLOCK;
    *n_dst = 0;
    if (n <= LZ4_HEAD)
        return COV_OK;
    put_big_endian(to, 8, n);
    put_big_endian(to + 8, 4, block);
    to += LZ4_HEAD;
    for (size_t left = n; left > 0; left -= block, from += block) {
        if (block > left)
            block = left;
        size_t room = (size_t)(end - to);
        if (room <= LZ4_BLOCK_HEAD)
            return COV_OK;
        room -= LZ4_BLOCK_HEAD;
        /* A block that does not become smaller is stored uncompressed. */
        size_t cap = room < block ? room : block - 1;
        size_t packed = (size_t)LZ4_compress_default(
            (const char *)from, (char *)to + LZ4_BLOCK_HEAD, (int)block, (int)cap);
        if (packed == 0) {
            if (room < block)
                return COV_OK;
            memcpy(to + LZ4_BLOCK_HEAD, from, block);
            packed = block;
        }
        put_big_endian(to, LZ4_BLOCK_HEAD, packed);
        to += LZ4_BLOCK_HEAD + packed;
    }
    if (to < end)
        *n_dst = (size_t)(to - (uint8_t *)dst);
    return COV_OK;
}

static uint64_t lz4_claim_size(const unsigned *values, size_t n_values, const void *src, size_t n)
{
    (void)values, (void)n_values;
    return n < LZ4_HEAD ? 0 : get_big_endian(src, 8);
}

static int lz4_decode(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
{
    static const char damaged[] = "lz4: the compressed data is damaged";
    const uint8_t *from = src;
    uint8_t *to = dst;
    if (n < LZ4_HEAD)
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
    from += LZ4_HEAD;
    n -= LZ4_HEAD;
    for (size_t left = n_dst; left > 0; left -= block, to += block) {
        if (block > left)
            block = left;
        if (n < LZ4_BLOCK_HEAD)
            return cov_fail(e, COV_EINPUT, "%s", damaged);
        size_t packed = (size_t)get_big_endian(from, LZ4_BLOCK_HEAD);
        from += LZ4_BLOCK_HEAD;
        n -= LZ4_BLOCK_HEAD;
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

static size_t lz4_set_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values)
{
    (void)level, (void)elem_bytes, (void)chunk_bytes;
    values[0] = 0; /* block size: the plugin's default */
    return 1;
}

const struct cov_codec cov_lz4 = {
    .name = "lz4",
    .h5_id = COV_H5_LZ4,
    .encode = lz4_encode,
    .decode = lz4_decode,
    .claim = lz4_claim_size,
    .values = lz4_set_values,
    .library = "LZ4",
    .version = LZ4_versionString,
};

/* ---- Zstandard ---- */

/* Zstandard: a chunk is one frame (RFC 8878) with the size of its contents and a checksum.
 * Creates a context in every call, like deflate.c. */

static int zstd_encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst,
                       size_t *n_dst, struct cov_err *e)
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

static uint64_t zstd_claim_size(const unsigned *values, size_t n_values, const void *src, size_t n)
{
    (void)values, (void)n_values;
    unsigned long long claim = is_frame(src, n) ? ZSTD_getFrameContentSize(src, n) : 0;
    return claim == ZSTD_CONTENTSIZE_ERROR || claim == ZSTD_CONTENTSIZE_UNKNOWN ? 0 : claim;
}

static int zstd_decode(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
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

static size_t zstd_set_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values)
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
    .encode = zstd_encode,
    .decode = zstd_decode,
    .claim = zstd_claim_size,
    .values = zstd_set_values,
    .library = "Zstandard",
    .version = ZSTD_versionString,
};

/* ---- Blosc ---- */

/* Blosc: a chunk is one Blosc 1 buffer, compressed with Zstandard; Blosc does the shuffle
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
 * decodes faster. */

enum { BLOSC_FILTER_VERSION = 2 }; /* version of the HDF5 plugin */

static int type_size(size_t elem_bytes)
{
    return elem_bytes > 0 && elem_bytes <= BLOSC_MAX_TYPESIZE ? (int)elem_bytes : 1;
}

static int shuffle_of(size_t elem_bytes)
{
    int size = type_size(elem_bytes);
    return size == 1 ? BLOSC_NOSHUFFLE : size == 2 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
}

enum { BLOSC_LEVEL = 4 }; /* a value */

static size_t blosc_set_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values)
{
    values[0] = BLOSC_FILTER_VERSION;
    values[1] = BLOSC_VERSION_FORMAT;
    values[2] = (unsigned)type_size(elem_bytes);
    values[3] = (unsigned)chunk_bytes;
    values[BLOSC_LEVEL] = (unsigned)level;
    values[5] = (unsigned)shuffle_of(elem_bytes);
    values[6] = BLOSC_ZSTD;
    return 7;
}

static int blosc_encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst,
                        size_t *n_dst, struct cov_err *e)
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

static uint64_t blosc_claim_size(const unsigned *values, size_t n_values, const void *src, size_t n)
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

static int blosc_decode(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
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
    .level_value = BLOSC_LEVEL,
    .shuffles = true,
    .encode = blosc_encode,
    .decode = blosc_decode,
    .claim = blosc_claim_size,
    .values = blosc_set_values,
    .library = "Blosc",
    .version = blosc_get_version_string,
};
