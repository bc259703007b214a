/* test_shuffle.c - compares shuffle and unshuffle with their definition.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/codec/codec.h"

/* Tests all element sizes and remainders at odd addresses. Nothing is written outside the
 * buffers. */
TEST(test_definition)
{
    static const size_t sizes[] = {1, 2, 3, 4, 5, 8, 16, 50};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        size_t bytes = sizes[k];
        for (size_t n = 0; n < 70 * bytes; n += n < 3 * bytes ? 1 : bytes + 1) {
            uint8_t *src = malloc(n + 1), *dst = malloc(n + 2), *back = malloc(n + 3);
            assert_true(src && dst && back);
            for (size_t i = 0; i < n; i++)
                src[1 + i] = (uint8_t)(i * 167 + i / 251);
            dst[0] = dst[n + 1] = back[0] = back[n + 1] = 0xa5;
            cov_shuffle(src + 1, n, bytes, dst + 1);
            assert_int_equal(dst[0], 0xa5);
            assert_int_equal(dst[n + 1], 0xa5);
            size_t n_elems = n / bytes;
            for (size_t i = 0; i < n; i++) {
                size_t at = i < n_elems * bytes ? i % bytes * n_elems + i / bytes : i;
                assert_int_equal(dst[1 + at], src[1 + i]);
            }
            cov_unshuffle(dst + 1, n, bytes, back + 1);
            assert_memory_equal(back + 1, src + 1, n);
            assert_int_equal(back[0], 0xa5);
            assert_int_equal(back[n + 1], 0xa5);
            free(src);
            free(dst);
            free(back);
        }
    }
}

/* Tests a huge element size, as a damaged file may contain. */
TEST(test_huge_elements)
{
    uint8_t src[16], dst[16];
    for (uint8_t i = 0; i < 16; i++)
        src[i] = i;
    cov_shuffle(src, 16, SIZE_MAX, dst);
    assert_memory_equal(dst, src, 16);
    memset(dst, 0, 16);
    cov_unshuffle(src, 16, SIZE_MAX, dst);
    assert_memory_equal(dst, src, 16);
}
