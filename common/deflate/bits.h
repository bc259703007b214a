/* bits.h - functions on words, common prefixes and bit streams, for the encoders in this directory.
 * SPDX-License-Identifier: MIT */
#ifndef COV_DEFLATE_BITS_H
#define COV_DEFLATE_BITS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { COV_WORD_BYTES = 8 };

static inline uint64_t cov_load64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return le64toh(x);
}

static inline void cov_store64(uint8_t *p, uint64_t x)
{
    x = htole64(x);
    memcpy(p, &x, sizeof x);
}

/* Returns the number of equal bytes at the start of p[0..n) and q[0..n). */
static inline size_t cov_common_bytes(const uint8_t *p, const uint8_t *q, size_t n)
{
    size_t i = 0;
    for (; n - i >= COV_WORD_BYTES; i += COV_WORD_BYTES) {
        uint64_t differ = cov_load64(p + i) ^ cov_load64(q + i);
        if (differ)
            return i + (size_t)__builtin_ctzll(differ) / 8;
    }
    while (i < n && p[i] == q[i])
        i++;
    return i;
}

/* Returns the largest n with 2^n <= x; x > 0. */
static inline unsigned cov_log2(unsigned x)
{
    return 31U - (unsigned)__builtin_clz(x);
}

/* Returns the lowest n <= 16 bits in reverse order, because deflate stores Huffman codes with
 * the highest bit first. */
static inline uint16_t cov_reverse_bits(unsigned bits, unsigned n)
{
    bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
    bits = (bits & 0x3333) << 2 | (bits >> 2 & 0x3333);
    bits = (bits & 0x0f0f) << 4 | (bits >> 4 & 0x0f0f);
    bits = (bits & 0x00ff) << 8 | (bits >> 8 & 0x00ff);
    return (uint16_t)(bits >> (16 - n));
}

/* Writes a stream of bits; the first goes to the lowest bit of the first byte. Between calls,
 * fewer than 8 bits are pending. */
struct cov_bit_writer {
    uint8_t *at;
    uint64_t bits; /* pending */
    uint32_t n;
};

enum { COV_PUT_BITS = 56 };

/* Appends n <= COV_PUT_BITS bits. Always stores eight bytes; the next call overwrites the
 * incomplete ones. */
static inline void cov_put_bits(struct cov_bit_writer *w, uint64_t bits, uint32_t n)
{
    w->bits |= bits << w->n;
    w->n += n;
    cov_store64(w->at, w->bits);
    w->at += w->n / 8;
    w->bits >>= w->n & ~7U;
    w->n &= 7;
}

#endif
