/* lzf.c - LZF, h5py's filter: a chunk is one block of liblzf, without any header. Decodes with liblzf;
 * the encoder is our own, for speed.
 *
 * A block is a sequence of tokens. A token of literals is a byte c < 32, then c + 1 bytes. A match
 * is a byte n << 5 | d >> 8 (n > 0; if n = 7, the next byte is added to n), then the byte d & 255;
 * it copies n + 2 bytes that begin d + 1 bytes earlier.
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"

#include <limits.h>
#include <lzf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/deflate/bits.h"

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

static int encode(int level, size_t elem_bytes, const void *src, size_t n, void *dst, size_t *n_dst,
                  struct cov_err *e)
{
    (void)level, (void)elem_bytes;
    if (n > UINT_MAX)
        return cov_fail(e, COV_EUNSUPPORTED, "lzf: a chunk of %zu bytes is too large", n);
    *n_dst = n > 1 ? encode_block(src, n, dst, n - 1) : 0;
    return COV_OK;
}

static int decode(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
{
    if (n == 0 || n > UINT_MAX || n_dst > UINT_MAX)
        return cov_fail(e, COV_EINPUT, "lzf: %zu bytes for a chunk of %zu", n, n_dst);
    unsigned got = lzf_decompress(src, (unsigned)n, dst, (unsigned)n_dst);
    if (got != n_dst)
        return cov_fail(e, COV_EINPUT, "lzf: the compressed data is damaged");
    return COV_OK;
}

enum { CHUNK_BYTES = 2 }; /* a value */

static uint64_t claim_size(const unsigned *values, size_t n_values, const void *src, size_t n)
{
    (void)src, (void)n;
    return n_values > CHUNK_BYTES ? values[CHUNK_BYTES] : 0;
}

static size_t set_values(int level, size_t elem_bytes, size_t chunk_bytes, unsigned *values)
{
    (void)level, (void)elem_bytes;
    values[0] = 4; /* versions of the filter and of liblzf */
    values[1] = 0x0105;
    values[CHUNK_BYTES] = (unsigned)chunk_bytes;
    return 3;
}

const struct cov_codec cov_lzf = {
    .name = "lzf",
    .h5_id = COV_H5_LZF,
    .encode = encode,
    .decode = decode,
    .claim = claim_size,
    .values = set_values,
};
