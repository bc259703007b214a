/* shuffle.c - HDF5's shuffle filter: the bytes of elements sorted by their place in the element.
 *
 * It is the transposition of an [elements][bytes] matrix. For 2, 4 and 8 bytes, 16 elements at a
 * time are transposed in registers by rounds of interleaving, written with the compiler's generic
 * vectors.
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"

#include <string.h>

typedef uint8_t vec __attribute__((vector_size(16)));

static inline vec load(const uint8_t *p)
{
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store(uint8_t *p, vec v)
{
    memcpy(p, &v, sizeof v);
}

static inline vec zip_low(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

static inline vec zip_high(vec a, vec b)
{
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
}

/* One perfect shuffle of the 16 n bytes of v: the byte at position p (of log2(16 n) bits) moves to
 * the position whose bits are those of p rotated left by one. */
static inline __attribute__((always_inline)) void riffle(vec *v, int n)
{
    vec out[8];
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; i++) {
        out[2 * i] = zip_low(v[i], v[i + n / 2]);
        out[2 * i + 1] = zip_high(v[i], v[i + n / 2]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < n; i++)
        v[i] = out[i];
}

/* With 16 elements of n bytes the position of a byte is element * n + byte. The place of the byte
 * becomes the upper part when the position is rotated left by the 4 bits of the element; the way
 * back rotates by the log2(n) bits of the byte. With constant n and all loops unrolled the vectors
 * stay in registers. */
static inline __attribute__((always_inline)) size_t shuffle16(const uint8_t *src, size_t n_elems,
                                                              uint8_t *dst, int n)
{
    size_t i = 0;
    for (; i + 16 <= n_elems; i += 16) {
        vec v[8];
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            v[k] = load(src + i * (size_t)n + 16 * (size_t)k);
#pragma GCC unroll 8
        for (int round = 0; round < 4; round++)
            riffle(v, n);
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            store(dst + (size_t)k * n_elems + i, v[k]);
    }
    return i;
}

static inline __attribute__((always_inline)) size_t unshuffle16(const uint8_t *src, size_t n_elems,
                                                                uint8_t *dst, int n)
{
    size_t i = 0;
    for (; i + 16 <= n_elems; i += 16) {
        vec v[8];
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            v[k] = load(src + (size_t)k * n_elems + i);
#pragma GCC unroll 8
        for (int round = 1; round < n; round *= 2)
            riffle(v, n);
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            store(dst + i * (size_t)n + 16 * (size_t)k, v[k]);
    }
    return i;
}

void cov_shuffle(const void *src, size_t n, size_t elem_bytes, void *dst)
{
    const uint8_t *s = src;
    uint8_t *d = dst;
    size_t n_elems = n / elem_bytes, done = 0;
    if (n_elems <= 1 || elem_bytes == 1) {
        memcpy(d, s, n);
        return;
    }
    switch (elem_bytes) {
    case 2:
        done = shuffle16(s, n_elems, d, 2);
        break;
    case 4:
        done = shuffle16(s, n_elems, d, 4);
        break;
    case 8:
        done = shuffle16(s, n_elems, d, 8);
        break;
    default:
        break;
    }
    for (size_t j = 0; j < elem_bytes; j++)
        for (size_t i = done; i < n_elems; i++)
            d[j * n_elems + i] = s[i * elem_bytes + j];
    memcpy(d + n_elems * elem_bytes, s + n_elems * elem_bytes, n % elem_bytes);
}

void cov_unshuffle(const void *src, size_t n, size_t elem_bytes, void *dst)
{
    const uint8_t *s = src;
    uint8_t *d = dst;
    size_t n_elems = n / elem_bytes, done = 0;
    if (n_elems <= 1 || elem_bytes == 1) {
        memcpy(d, s, n);
        return;
    }
    switch (elem_bytes) {
    case 2:
        done = unshuffle16(s, n_elems, d, 2);
        break;
    case 4:
        done = unshuffle16(s, n_elems, d, 4);
        break;
    case 8:
        done = unshuffle16(s, n_elems, d, 8);
        break;
    default:
        break;
    }
    for (size_t j = 0; j < elem_bytes; j++)
        for (size_t i = done; i < n_elems; i++)
            d[i * elem_bytes + j] = s[j * n_elems + i];
    memcpy(d + n_elems * elem_bytes, s + n_elems * elem_bytes, n % elem_bytes);
}
