/* codec.c - see codec.h.
 *
 * Filter numbers come from the HDF5 file format specification (filter pipeline message) and the HDF
 * Group's list of registered filters.
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/codec/deflate.h"
#include "common/codec/h5_filters.h"
#include "common/codec/tokens.h"

/* libdeflate's levels for "gzip" and "fast", where neither onehot.h nor encode_integers applies. On
 * the chunks of a genome file, level 3 takes half as long as level 6 and needs 7 % more bytes; both
 * are faster and compress better than zlib's level 4. */
enum { GZIP_LEVEL = 3, FAST_LEVEL = 1 };

int cov_codec_parse(const char *text, struct cov_codec_choice *out, struct cov_err *e)
{
    static const struct {
        const char *name;
        enum cov_codec_id id;
        int level, max_level;
    } known[] = {
        {"gzip", COV_CODEC_GZIP, 0, 0},
        {"fast", COV_CODEC_FAST, 0, 0},
        {"libdeflate", COV_CODEC_LIBDEFLATE, 6, 12},
        {"lzf", COV_CODEC_LZF, 0, 0},
        {"lz4", COV_CODEC_LZ4, 0, 0},
        {"zstd", COV_CODEC_ZSTD, 3, 19},
        {"blosc", COV_CODEC_BLOSC, 1, 9},
        {"none", COV_CODEC_NONE, 0, 0},
    };
    size_t n_name = strcspn(text, ":");
    for (size_t i = 0; i < COV_COUNT(known); i++) {
        if (strlen(known[i].name) != n_name || strncmp(text, known[i].name, n_name) != 0)
            continue;
        long level = known[i].level;
        if (text[n_name] == ':') {
            const char *digits = text + n_name + 1;
            char *end;
            errno = 0;
            level = strtol(digits, &end, 10);
            if (*digits < '0' || *digits > '9' || *end || errno || level < 1 ||
                level > known[i].max_level)
                break;
        }
        *out = (struct cov_codec_choice){known[i].id, (int)level};
        return COV_OK;
    }
    return cov_fail(
        e, COV_EUSAGE,
        "\"%s\" is not a compression: gzip, fast, libdeflate, libdeflate:1 to libdeflate:12, "
        "lzf, lz4, zstd, zstd:1 to zstd:19, blosc, blosc:1 to blosc:9 or none",
        text);
}

static bool is_deflate(enum cov_codec_id id)
{
    return id == COV_CODEC_GZIP || id == COV_CODEC_FAST || id == COV_CODEC_LIBDEFLATE;
}

size_t cov_codec_bound(struct cov_codec_choice choice, size_t n)
{
    size_t deflate = cov_deflate_bound(n), tokens = cov_tokens_bound(n);
    return !is_deflate(choice.id) ? n : deflate > tokens ? deflate : tokens;
}

/* Deflates integers of a prediction. Many equal the first, second or eighth integer before them:
 * where a network's output is flat, it repeats with the period of the layers that double the
 * positions. This takes 1/3 to 1/8 of the time of libdeflate's level 3, and the size is from 25 %
 * smaller to 8 % larger. */
static int encode_integers(size_t elem_bytes, const void *src, size_t n, void *dst, size_t *n_dst,
                           struct cov_err *e)
{
    const unsigned size = (unsigned)elem_bytes, dists[] = {size, 2 * size, 8 * size};
    struct cov_tokens t;
    int rc = cov_tokens_init(&t, n, e);
    if (rc)
        return rc;
    cov_tokens_strides(&t, src, n, dists, COV_COUNT(dists));
    *n_dst = cov_tokens_zlib(&t, src, n, dst);
    cov_tokens_fini(&t);
    return COV_OK;
}

int cov_codec_encode(struct cov_codec_choice choice, size_t elem_bytes, const void *src, size_t n,
                     void *dst, size_t *n_dst, struct cov_err *e)
{
    size_t cap = cov_codec_bound(choice, n);
    switch (choice.id) {
    case COV_CODEC_GZIP:
    case COV_CODEC_FAST:
        return elem_bytes > 0 && n > 0
                   ? encode_integers(elem_bytes, src, n, dst, n_dst, e)
                   : cov_deflate(choice.id == COV_CODEC_GZIP ? GZIP_LEVEL : FAST_LEVEL, src, n, dst,
                                 cap, n_dst, e);
    case COV_CODEC_LIBDEFLATE:
        return cov_deflate(choice.level, src, n, dst, cap, n_dst, e);
    case COV_CODEC_LZF:
        return cov_lzf_encode(src, n, dst, n_dst, e);
    case COV_CODEC_LZ4:
        return cov_lz4_encode(src, n, dst, n_dst, e);
    case COV_CODEC_ZSTD:
        return cov_zstd_encode(choice.level, src, n, dst, n_dst, e);
    case COV_CODEC_BLOSC:
        return cov_blosc_encode(choice.level, elem_bytes, src, n, dst, n_dst, e);
    case COV_CODEC_NONE:
        break;
    }
    memcpy(dst, src, n);
    *n_dst = n;
    return COV_OK;
}

uint32_t cov_fletcher32(const void *data, size_t n)
{
    const uint8_t *p = data, *end = p + (n & ~(size_t)1);
    uint32_t sum1 = 0, sum2 = 0;
    while (p < end) {
        /* sum2 overflows after more than 360 words. */
        const uint8_t *stop = end - p > 720 ? p + 720 : end;
        for (; p < stop; p += 2) {
            sum1 += (uint32_t)p[0] << 8 | p[1];
            sum2 += sum1;
        }
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    if (n & 1) {
        sum1 += (uint32_t)*end << 8;
        sum2 += sum1;
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    return sum2 << 16 | sum1;
}

/* The little-endian checksum follows the data. On some machines, HDF5 before 1.6.3 swapped the
 * bytes of each half of the checksum; HDF5's readers accept both orders. */
static int check_fletcher32(const uint8_t *src, size_t *n, struct cov_err *e)
{
    if (*n < 4)
        return cov_fail(e, COV_EINPUT, "fletcher32: truncated: %zu bytes", *n);
    *n -= 4;
    const uint8_t *p = src + *n;
    uint32_t stored = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    uint32_t sum = cov_fletcher32(src, *n);
    uint32_t swapped = (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
    if (stored != sum && stored != swapped)
        return cov_fail(e, COV_EINPUT, "fletcher32: the checksum does not match");
    return COV_OK;
}

static bool is_compression(int id)
{
    return id == COV_H5_DEFLATE || id == COV_H5_LZF || id == COV_H5_BLOSC || id == COV_H5_LZ4 ||
           id == COV_H5_ZSTD;
}

static int decompress(int id, const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
{
    switch (id) {
    case COV_H5_LZF:
        return cov_lzf_decode(src, n, dst, n_dst, e);
    case COV_H5_BLOSC:
        return cov_blosc_decode(src, n, dst, n_dst, e);
    case COV_H5_LZ4:
        return cov_lz4_decode(src, n, dst, n_dst, e);
    case COV_H5_ZSTD:
        return cov_zstd_decode(src, n, dst, n_dst, e);
    default:
        assert(id == COV_H5_DEFLATE);
        return cov_inflate(src, n, dst, n_dst, e);
    }
}

size_t cov_codec_values(const struct cov_filter *filter, size_t chunk_bytes,
                        unsigned values[COV_CODEC_MAX_VALUES])
{
    switch (filter->id) {
    case COV_H5_LZF: /* versions of the filter and liblzf */
        values[0] = 4;
        values[1] = 0x0105;
        values[2] = (unsigned)chunk_bytes;
        return 3;
    case COV_H5_LZ4: /* block size: the plugin's default */
        values[0] = 0;
        return 1;
    case COV_H5_ZSTD:
        values[0] = (unsigned)filter->level;
        return 1;
    default:
        assert(filter->id == COV_H5_BLOSC);
        return cov_blosc_values(filter->level, filter->elem_bytes, chunk_bytes, values);
    }
}

uint64_t cov_codec_claim(int id, const void *src, size_t n)
{
    switch (id) {
    case COV_H5_BLOSC:
        return cov_blosc_claim(src, n);
    case COV_H5_LZ4:
        return cov_lz4_claim(src, n);
    case COV_H5_ZSTD:
        return cov_zstd_claim(src, n);
    default:
        return 0;
    }
}

bool cov_codec_can_undo(const struct cov_filter *filters, size_t n_filters)
{
    size_t n_compressions = 0, n_checks = 0;
    for (size_t i = 0; i < n_filters; i++) {
        if (is_compression(filters[i].id))
            n_compressions++;
        else if (filters[i].id == COV_H5_FLETCHER32)
            n_checks++;
        else if (filters[i].id != COV_H5_SHUFFLE || filters[i].elem_bytes == 0 || i > 0)
            return false;
    }
    return n_compressions <= 1 && n_checks <= 1;
}

size_t cov_codec_undo_scratch(size_t n_dst)
{
    return n_dst <= SIZE_MAX - 4 ? n_dst + 4 : SIZE_MAX;
}

/* Returns the size that n_dst bytes have after filters[0..n), none of which compresses. */
static size_t size_after(const struct cov_filter *filters, size_t n, uint32_t mask, size_t n_dst)
{
    for (size_t i = 0; i < n; i++)
        if (filters[i].id == COV_H5_FLETCHER32 && !(mask >> i & 1))
            n_dst += 4;
    return n_dst;
}

int cov_codec_undo(struct cov_applied applied, const void *src, size_t n, void *dst, size_t n_dst,
                   void *scratch, struct cov_err *e)
{
    const struct cov_filter *filters = applied.filters;
    uint32_t mask = applied.mask;
    assert(cov_codec_can_undo(filters, applied.n_filters));
    /* Decompresses to scratch, or to dst if no filter is left to undo, and unshuffles to dst.
     * Removing a checksum needs no copy. */
    for (size_t i = applied.n_filters; i-- > 0;) {
        if (mask >> i & 1)
            continue;
        int rc = COV_OK;
        if (is_compression(filters[i].id)) {
            size_t size = size_after(filters, i, mask, n_dst);
            void *to = i == 0 ? dst : scratch;
            rc = decompress(filters[i].id, src, n, to, size, e);
            src = to;
            n = size;
        } else if (filters[i].id == COV_H5_FLETCHER32) {
            rc = check_fletcher32(src, &n, e);
        } else if (n == n_dst) {
            cov_unshuffle(src, n, filters[i].elem_bytes, dst);
            src = dst;
        }
        if (rc)
            return rc;
    }
    if (n != n_dst)
        return cov_fail(e, COV_EINPUT, "the chunk has %zu bytes instead of %zu", n, n_dst);
    if (src != dst)
        memcpy(dst, src, n);
    return COV_OK;
}
