/* test_lz4.c - HDF5's form of LZ4: bytes written down by hand, and sizes that lie.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/codec/h5_filters.h"

/* 250 times the byte 7 in blocks of 100: twice a literal, a match of 94 bytes and five literals;
 * then 50 plain bytes. */
enum { N = 250, HEAD = 12, BLOCK = 4 + 11, PLAIN = 4 + 50, PACKED = HEAD + 2 * BLOCK + PLAIN };

static void make_sample(uint8_t *p)
{
    static const uint8_t head[HEAD] = {0, 0, 0, 0, 0, 0, 0, N, 0, 0, 0, 100},
                         block[BLOCK] = {0, 0, 0, 11, 0x1f, 7, 1, 0, 75, 0x50, 7, 7, 7, 7, 7},
                         plain[4] = {0, 0, 0, 50};
    memcpy(p, head, HEAD);
    memcpy(p + HEAD, block, BLOCK);
    memcpy(p + HEAD + BLOCK, block, BLOCK);
    memcpy(p + HEAD + 2 * BLOCK, plain, sizeof plain);
    memset(p + HEAD + 2 * BLOCK + 4, 7, 50);
}

static void test_blocks(void **state)
{
    (void)state;
    uint8_t p[PACKED], dst[N], expected[N];
    make_sample(p);
    memset(expected, 7, N);
    assert_int_equal(cov_lz4_claim(p, PACKED), N);
    assert_int_equal(cov_lz4_claim(p, HEAD - 1), 0);
    assert_int_equal(cov_lz4_decode(p, PACKED, dst, N, NULL), 0);
    assert_memory_equal(dst, expected, N);
    /* A block larger than the chunk is as large as the chunk. */
    uint8_t one[HEAD + BLOCK] = {0, 0, 0, 0, 0, 0, 0, 100, 0x40, 0, 0, 0};
    memcpy(one + HEAD, p + HEAD, BLOCK);
    assert_int_equal(cov_lz4_decode(one, sizeof one, dst, 100, NULL), 0);
    assert_memory_equal(dst, expected, 100);
}

static void test_lies(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
    } lies[] = {
        {7, 249},                         /* size of the chunk */
        {0, 0x80},                        /* and an absurd one */
        {3, 1},                           /* and one that is right in 32 bits */
        {11, 0},                          /* blocks of nothing */
        {11, 99},  {11, 101}, {8, 0xff},  /* blocks that are not those that follow */
        {15, 10},  {15, 12},  {12, 0xff}, /* compressed size of a block */
        {15, 100},                        /* a plain block, longer than what follows */
        {45, 51},  {45, 49},  {45, 0},    /* size of the plain block */
        {18, 2},                          /* a match before the beginning */
        {20, 74},  {20, 76},  {20, 255},  /* a match too short, too long */
    };
    uint8_t p[PACKED + 1], dst[N];
    for (size_t i = 0; i < COV_COUNT(lies); i++) {
        make_sample(p);
        p[lies[i].at] = lies[i].value;
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(cov_lz4_decode(p, PACKED, dst, N, &e), COV_EINPUT);
        assert_non_null(strstr(e.text, "lz4: "));
    }
    make_sample(p);
    p[PACKED] = 0;
    assert_int_equal(cov_lz4_decode(p, PACKED + 1, dst, N, NULL), COV_EINPUT);
}

/* What is written is one block with the head of the format. */
static void test_head(void **state)
{
    (void)state;
    enum { M = 70000 };
    static uint8_t src[M], packed[M];
    static const uint8_t head[HEAD] = {0, 0, 0, 0, 0, 1, 0x11, 0x70, 0, 1, 0x11, 0x70};
    size_t n;
    assert_int_equal(cov_lz4_encode(src, M, packed, &n, NULL), 0);
    assert_memory_equal(packed, head, HEAD);
    size_t block = (size_t)packed[12] << 24 | packed[13] << 16 | packed[14] << 8 | packed[15];
    assert_int_equal(n, HEAD + 4 + block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
