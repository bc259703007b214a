/* test_int_to_float.c - conversion of integers to floats, and the search for the first invalid
 * coverage.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/err.h"
#include "common/h5/int_to_float.h"

enum { N = 3000, LARGEST = (1 << 24) - 1 };
static const bool big = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;

/* Converts n elements of a type at an unaligned address. The element at index `at` is `odd`. */
static bool convert(struct cov_h5_type type, size_t n, size_t at, int64_t odd, float *values)
{
    uint8_t *elems = malloc(N * sizeof odd + 1);
    assert_non_null(elems);
    for (size_t i = 0; i < n; i++) {
        int64_t x = i == at ? odd : (int64_t)i * 5000;
        int32_t word = (int32_t)x;
        if (type.bytes == sizeof x)
            memcpy(elems + 1 + i * sizeof x, &x, sizeof x);
        else
            memcpy(elems + 1 + i * sizeof word, &word, sizeof word);
    }
    bool whole = cov_int_to_float(&type, elems + 1, n, values);
    free(elems);
    return whole;
}

TEST(test_to_float)
{
    static const size_t places[] = {0, 1, 1023, 1024, 2047, 2048, N - 1};
    static float values[N];
    for (size_t bytes = 4; bytes <= 8; bytes += 4) {
        const struct cov_h5_type type = {COV_H5_INT, bytes, true, big, '\0'};
        for (size_t k = 0; k < COV_COUNT(places); k++) {
            size_t at = places[k];
            assert_true(convert(type, N, at, LARGEST, values));
            for (size_t i = 0; i < N; i++)
                assert_true(values[i] == (i == at ? (float)LARGEST : (float)i * 5000));
            assert_false(convert(type, N, at, LARGEST + 1, values));
            assert_false(convert(type, N, at, -1, values));
            assert_false(convert(type, N, at, INT32_MIN, values));
            if (bytes == 8)
                assert_false(convert(type, N, at, INT64_C(1) << 32, values));
            assert_true(convert(type, at, at, -1, values)); /* `at` is past the end */
        }
    }
}

TEST(test_other_types)
{
    static float values[N];
    static const struct cov_h5_type others[] = {
        {COV_H5_INT, 2, true, big, '\0'},   {COV_H5_INT, 4, true, !big, '\0'},
        {COV_H5_INT, 8, false, !big, '\0'}, {COV_H5_FLOAT, 4, true, big, '\0'},
        {COV_H5_FLOAT, 8, true, big, '\0'},
    };
    for (size_t i = 0; i < COV_COUNT(others); i++)
        assert_false(convert(others[i], 1, 0, 1, values));
    const struct cov_h5_type natural = {COV_H5_INT, 4, false, big, '\0'};
    assert_true(convert(natural, 1, 0, 7, values));
    assert_true(values[0] == 7);
}

TEST(test_good)
{
    static const size_t sizes[] = {0, 1, 1023, 1024, 1025, N};
    static const float bad[] = {NAN, INFINITY, -INFINITY, -1, -1e-30F};
    static float values[N];
    for (size_t k = 0; k < COV_COUNT(sizes); k++) {
        size_t n = sizes[k];
        for (size_t i = 0; i < N; i++)
            values[i] = i % 3 ? (float)i : -0.0F;
        assert_int_equal(cov_count_valid(values, n), n);
        for (size_t b = 0; b < COV_COUNT(bad); b++)
            for (size_t at = 0; at<n; at += at % 1024> 1020 || n < 3 ? 1 : 340) {
                float before = values[at];
                values[at] = bad[b];
                assert_int_equal(cov_count_valid(values, n), at);
                values[at] = before;
            }
    }
}
