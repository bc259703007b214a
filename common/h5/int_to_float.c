/* int_to_float.c - see int_to_float.h. Compiled with options for vectorisation.
 * SPDX-License-Identifier: MIT */
#include "common/h5/int_to_float.h"

#include <float.h>
#include <stdint.h>

enum { TILE = 1024, BITS = 24 };

/* Converts in tiles, so that it can stop early. Elements may be unaligned, in streams or in memory
 * from libraries, so these types have an alignment of 1. */
typedef uint64_t any_uint64 __attribute__((aligned(1), may_alias));
typedef uint32_t any_uint32 __attribute__((aligned(1), may_alias));

#define TAKE(source)                                                                               \
    for (size_t beg = 0; beg < n; beg += TILE) {                                                   \
        const source *x = (const source *)elems + beg;                                             \
        float *y = values + beg;                                                                   \
        size_t m = n - beg < TILE ? n - beg : TILE;                                                \
        source all = 0;                                                                            \
        for (size_t i = 0; i < m; i++) {                                                           \
            all |= x[i];                                                                           \
            y[i] = (float)(int32_t)x[i];                                                           \
        }                                                                                          \
        if (all >> BITS)                                                                           \
            return false;                                                                          \
    }

bool cov_int_to_float(const struct cov_h5_type *type, const void *elems, size_t n, float *values)
{
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    if (type->kind != COV_H5_INT || type->big_endian == little)
        return false;
    if (type->bytes == sizeof(uint64_t)) {
        TAKE(any_uint64)
    } else if (type->bytes == sizeof(uint32_t)) {
        TAKE(any_uint32)
    } else {
        return false;
    }
    return true;
}

size_t cov_count_valid(const float *values, size_t n)
{
    size_t beg = 0;
    for (; n - beg >= TILE; beg += TILE) {
        int bad = 0;
        for (size_t i = beg; i < beg + TILE; i++)
            bad |= !(values[i] >= 0) | !(values[i] <= FLT_MAX);
        if (bad)
            break;
    }
    while (beg < n && values[beg] >= 0 && values[beg] <= FLT_MAX)
        beg++;
    return beg;
}
