/* coverage_codec.c - see coverage_codec.h.
 *
 * The shuffled bytes, which are planes of L bytes each, are made at once from the values.
 * SPDX-License-Identifier: MIT */
#include "common/store/coverage_codec.h"

#include <string.h>

#include "common/store/h5_rows.h"

static const struct cov_codec_choice compression = {COV_CODEC_LZF, 0};

size_t cov_coverage_filters(size_t elem_bytes, struct cov_filter filters[3])
{
    return cov_h5_filters(compression, elem_bytes, filters);
}

static int begin_row(size_t L, size_t elem_bytes, struct cov_blob *out, uint8_t **planes,
                     struct cov_err *e)
{
    uint8_t *scratch;
    return cov_h5_pack_begin(compression, L * elem_bytes, out, planes, &scratch, e);
}

static int end_row(size_t n, size_t L, size_t elem_bytes, uint8_t *planes, struct cov_blob *out,
                   struct cov_err *e)
{
    struct cov_filter filters[3];
    size_t n_filters = cov_coverage_filters(elem_bytes, filters);
    for (size_t j = 0; j < elem_bytes; j++)
        memset(planes + j * L + n, 0xff, L - n);
    return cov_h5_pack_end(compression, filters, n_filters, L * elem_bytes, out, e);
}

int cov_coverage_encode(const int64_t *values, size_t n, size_t L, size_t elem_bytes,
                        struct cov_blob *out, struct cov_err *e)
{
    uint8_t *planes;
    int rc = begin_row(L, elem_bytes, out, &planes, e);
    if (rc)
        return rc;
    uint64_t limit = (uint64_t)1 << (8 * elem_bytes - 1);
    for (size_t t = 0; elem_bytes < 8 && t < n; t++)
        if ((uint64_t)values[t] + limit >= 2 * limit)
            return cov_fail(e, COV_EINPUT, "index %zu: %lld does not fit in %zu bits", t,
                            (long long)values[t], 8 * elem_bytes);
    for (size_t j = 0; j < elem_bytes; j++)
        for (size_t t = 0; t < n; t++)
            planes[j * L + t] = (uint8_t)((uint64_t)values[t] >> 8 * j);
    return end_row(n, L, elem_bytes, planes, out, e);
}

/* Whether the first byte of a word is its lowest. */
#define LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

typedef uint32_t words __attribute__((vector_size(16)));
typedef uint8_t bytes __attribute__((vector_size(16)));

static inline bytes load_bytes(const int32_t *depth, unsigned shift, bool minus)
{
    words w;
    memcpy(&w, depth, sizeof w);
    return (bytes)((minus ? __builtin_shufflevector(w, w, 3, 2, 1, 0) : w) >> shift);
}

static inline bytes every_other(bytes a, bytes b)
{
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}

/* plane[i] = byte shift / 8 of depth[i]; on the - strand of depth[n - 1 - i]. */
static inline __attribute__((always_inline)) void
fill_plane(const int32_t *depth, size_t n, unsigned shift, bool minus, uint8_t *plane)
{
    size_t i = 0;
    for (; LITTLE && i + 16 <= n; i += 16) {
        bytes four[4];
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++)
            four[k] = load_bytes(depth + i + 4 * (minus ? 3 - k : k), shift, minus);
        bytes all = every_other(every_other(four[0], four[1]), every_other(four[2], four[3]));
        memcpy(plane + (minus ? n - 16 - i : i), &all, sizeof all);
    }
    for (; i < n; i++)
        plane[minus ? n - 1 - i : i] = (uint8_t)((uint32_t)depth[i] >> shift);
}

int cov_coverage_encode_depth(const int32_t *depth, int32_t max, size_t n, bool minus, size_t L,
                              size_t elem_bytes, struct cov_blob *out, struct cov_err *e)
{
    uint8_t *planes;
    int rc = begin_row(L, elem_bytes, out, &planes, e);
    if (rc)
        return rc;
    for (size_t j = 0; j < elem_bytes; j++) {
        uint8_t *plane = planes + j * L;
        unsigned shift = 8 * (unsigned)j;
        if (shift >= 32 || (uint32_t)max >> shift == 0)
            memset(plane, 0, n);
        else if (minus)
            fill_plane(depth, n, shift, true, plane);
        else
            fill_plane(depth, n, shift, false, plane);
    }
    return end_row(n, L, elem_bytes, planes, out, e);
}

int cov_coverage_decode_piece(struct cov_blob *pieces, size_t i, size_t n, size_t L,
                              size_t elem_bytes, int64_t *values, struct cov_err *e)
{
    struct cov_h5_rows rows = {
        .type = {COV_H5_INT, elem_bytes, true, false, '\0'},
        .dims = {1, L, 1},
        .chunked = true,
        .chunk = {1, L, 1},
    };
    rows.n_filters = cov_coverage_filters(elem_bytes, rows.filters);
    const uint8_t *elems = NULL;
    int rc = cov_h5_unpack(&rows, 0, 1, 0, 1, pieces, i, &elems, e);
    return rc ? rc : cov_h5_to_int64(&rows.type, elems, n, values, e);
}
