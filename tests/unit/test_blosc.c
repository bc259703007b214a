/* test_blosc.c - Blosc buffers: a head written down by hand, sizes that lie, declared parameters.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/codec/h5_filters.h"

/* Version 2, of the compressor 1, flags, element of 2 bytes; sizes of contents, block and buffer,
 * little-endian; then, as the flag 2 says, the plain bytes. */
enum { N = 20, HEAD = 16, PACKED = HEAD + N };

static void make_plain(uint8_t *p)
{
    static const uint8_t head[HEAD] = {2, 1, 0x82, 2, N, 0, 0, 0, N, 0, 0, 0, PACKED, 0, 0, 0};
    memcpy(p, head, HEAD);
    for (int i = 0; i < N; i++)
        p[HEAD + i] = (uint8_t)i;
}

static void test_plain(void **state)
{
    (void)state;
    uint8_t p[PACKED], dst[N];
    make_plain(p);
    assert_int_equal(cov_blosc_claim(p, PACKED), N);
    assert_int_equal(cov_blosc_claim(p, HEAD - 1), 0);
    assert_int_equal(cov_blosc_decode(p, PACKED, dst, N, NULL), 0);
    assert_memory_equal(dst, p + HEAD, N);
}

static void test_lies(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
    } lies[] = {
        {0, 3},                            /* version */
        {0, 0},     {2, 0xe2}, {2, 0xa2},  /* compressors that there are not */
        {3, 0},                            /* element of no bytes */
        {4, 19},    {4, 21},   {7, 0x7f},  /* contents */
        {7, 0xff},                         /* negative */
        {8, 0},     {8, 21},   {11, 0x7f}, /* block */
        {11, 0xff},                        /* negative */
        {12, 35},   {12, 37},  {15, 0x7f}, /* buffer */
        {15, 0xff}, {12, 0},
    };
    uint8_t p[PACKED], dst[N];
    for (size_t i = 0; i < COV_COUNT(lies); i++) {
        make_plain(p);
        p[lies[i].at] = lies[i].value;
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(cov_blosc_decode(p, PACKED, dst, N, &e), COV_EINPUT);
        assert_non_null(strstr(e.text, "blosc: "));
    }
    make_plain(p);
    for (size_t cut = 0; cut < PACKED; cut++)
        assert_int_equal(cov_blosc_decode(p, cut, dst, N, NULL), COV_EINPUT);
}

/* Every compressor that libblosc has or lacks is decoded or refused without a word on stderr. */
static void test_compressors(void **state)
{
    (void)state;
    enum { M = 40000 };
    static uint8_t src[M], packed[M], dst[M];
    size_t n;
    for (size_t i = 0; i < M; i++)
        src[i] = (uint8_t)(i >> 6);
    assert_int_equal(cov_blosc_encode(1, 4, src, M, packed, &n, NULL), 0);
    assert_true(n > 0);
    assert_int_equal(packed[2] >> 5, 4); /* Zstandard */
    assert_int_equal(packed[2] & 7, 1);  /* shuffled by bytes */
    assert_int_equal(packed[3], 4);
    for (unsigned format = 0; format < 8; format++) {
        packed[2] = (uint8_t)((packed[2] & 0x1f) | format << 5);
        int rc = cov_blosc_decode(packed, n, dst, M, NULL);
        assert_int_equal(format == 4, rc == 0);
        assert_true(rc == 0 || rc == COV_EINPUT || (format < 5 && rc == COV_EUNSUPPORTED));
    }
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        size_t elem_bytes;
        unsigned expected[7];
    } cases[] = {
        {0, {2, 2, 1, 1000, 3, 0, 5}},     {1, {2, 2, 1, 1000, 3, 0, 5}},
        {2, {2, 2, 2, 1000, 3, 2, 5}},     {4, {2, 2, 4, 1000, 3, 1, 5}},
        {255, {2, 2, 255, 1000, 3, 1, 5}}, {256, {2, 2, 1, 1000, 3, 0, 5}},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        unsigned values[7];
        assert_int_equal(cov_blosc_values(3, cases[i].elem_bytes, 1000, values), 7);
        assert_memory_equal(values, cases[i].expected, sizeof values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_compressors),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
