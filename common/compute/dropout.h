/* dropout.h - dropout decides by a hash of an element's position, so that elements can be drawn in
 * any order, in parallel, and again in the backward pass.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_DROPOUT_H
#define COV_COMPUTE_DROPOUT_H

#include <stddef.h>
#include <stdint.h>

/* Qualifiers of each function. Device code that needs others defines this macro before
 * inclusion. */
#ifndef COV_DROPOUT_FN
#define COV_DROPOUT_FN static inline
#endif

/* The finaliser of splitmix64. */
COV_DROPOUT_FN uint64_t cov_dropout_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

/* Returns the key for a layer's output for a chunk; `chunk` is its number in the step's whole
 * batch. */
COV_DROPOUT_FN uint64_t cov_dropout_key(uint64_t seed, uint64_t step, uint64_t layer,
                                        uint64_t chunk)
{
    uint64_t key = cov_dropout_mix(seed + 0x9e3779b97f4a7c15U);
    key = cov_dropout_mix(key ^ step);
    key = cov_dropout_mix(key ^ layer << 48 ^ chunk);
    return key;
}

/* Returns the number of the first element of row t in an array of c channels. Rows start at even
 * numbers. */
COV_DROPOUT_FN uint64_t cov_dropout_place(uint64_t t, uint64_t c)
{
    return t * (c + c % 2);
}

/* Returns 32 random bits for element i, which is dropped if they are below p 2^32. */
COV_DROPOUT_FN uint32_t cov_dropout_bits(uint64_t key, uint64_t i)
{
    uint64_t z = cov_dropout_mix(key + (i / 2 + 1) * 0x9e3779b97f4a7c15U);
    return (uint32_t)(i % 2 ? z >> 32 : z);
}

COV_DROPOUT_FN uint32_t cov_dropout_limit(double p)
{
    return (uint32_t)(p * 4294967296.0);
}

#endif
