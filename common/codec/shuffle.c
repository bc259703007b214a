/* shuffle.c - HDF5's shuffle filter, which sorts the bytes of elements by their position in the
 * element.
 *
 * This transposes an [elements][bytes] matrix. Elements of 2, 4 and 8 bytes are transposed 16 at a
 * time in registers, by several rounds of interleaving. The code uses the compiler's generic
 * vectors.
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"

#include <stdbool.h>
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

/* Does one perfect shuffle of the 16 n bytes of v, which rotates the log2(16 n) bits of each
 * byte's position left by one. */
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

/* The position of a byte in 16 elements of n bytes is element * n + byte. Rotating the position
 * left by the 4 bits of `element` makes `byte` the upper part; that is the shuffle. The inverse
 * rotates it by the log2(n) bits of `byte`. With constant n and unrolled loops, the vectors stay
 * in registers. */
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

/* Moves whole blocks of 16 elements of 2, 4 or 8 bytes. Returns the number of elements moved. */
static size_t move_blocks(const uint8_t *src, size_t n_elems, size_t elem_bytes, uint8_t *dst,
                          bool back)
{
    switch (elem_bytes) {
    case 2:
        return back ? unshuffle16(src, n_elems, dst, 2) : shuffle16(src, n_elems, dst, 2);
    case 4:
        return back ? unshuffle16(src, n_elems, dst, 4) : shuffle16(src, n_elems, dst, 4);
    case 8:
        return back ? unshuffle16(src, n_elems, dst, 8) : shuffle16(src, n_elems, dst, 8);
    default:
        return 0;
    }
}

static void move(const uint8_t *s, size_t n, size_t elem_bytes, uint8_t *d, bool back)
{
    size_t n_elems = n / elem_bytes;
    if (n_elems <= 1 || elem_bytes == 1) {
        memcpy(d, s, n);
        return;
    }
    size_t done = move_blocks(s, n_elems, elem_bytes, d, back);
    for (size_t j = 0; j < elem_bytes; j++)
        for (size_t i = done; i < n_elems; i++) {
            size_t in_element = i * elem_bytes + j, in_plane = j * n_elems + i;
            d[back ? in_element : in_plane] = s[back ? in_plane : in_element];
        }
    memcpy(d + n_elems * elem_bytes, s + n_elems * elem_bytes, n % elem_bytes);
}

void cov_shuffle(const void *src, size_t n, size_t elem_bytes, void *dst)
{
    move(src, n, elem_bytes, dst, false);
}

void cov_unshuffle(const void *src, size_t n, size_t elem_bytes, void *dst)
{
    move(src, n, elem_bytes, dst, true);
}
