/* test_h5_filters.c - Blosc, LZ4 and Zstandard decode data written by hand and refuse wrong
 * headers. test_codec.c has the round trips.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/codec/codec.h"

/* A byte to change. */
struct patch {
    size_t at;
    uint8_t value;
};

/* ---- Blosc ---- */

/* The buffer has Blosc version 2, compressor version 1, flags and element size 2; then the sizes
 * of contents, block and buffer, little-endian; then the contents, which flag 2 marks as
 * uncompressed. */
enum { BLOSC_N = 20, BLOSC_HEAD = 16, BLOSC_PACKED = BLOSC_HEAD + BLOSC_N };

static void make_blosc(uint8_t *p)
{
    static const uint8_t head[BLOSC_HEAD] = {2,       1, 0x82, 2, BLOSC_N,      0, 0, 0,
                                             BLOSC_N, 0, 0,    0, BLOSC_PACKED, 0, 0, 0};
    memcpy(p, head, BLOSC_HEAD);
    for (int i = 0; i < BLOSC_N; i++)
        p[BLOSC_HEAD + i] = (uint8_t)i;
}

TEST(blosc_header)
{
    uint8_t p[BLOSC_PACKED], dst[BLOSC_N];
    make_blosc(p);
    assert_int_equal(cov_blosc.claim(NULL, 0, p, BLOSC_PACKED), BLOSC_N);
    assert_int_equal(cov_blosc.claim(NULL, 0, p, BLOSC_HEAD - 1), 0);
    assert_int_equal(cov_blosc.decode(p, BLOSC_PACKED, dst, BLOSC_N, NULL), 0);
    assert_memory_equal(dst, p + BLOSC_HEAD, BLOSC_N);
}

TEST(blosc_wrong_fields)
{
    static const struct patch patches[] = {
        {0, 3},                            /* version */
        {0, 0},     {2, 0xe2}, {2, 0xa2},  /* unknown compressors */
        {3, 0},                            /* element size 0 */
        {4, 19},    {4, 21},   {7, 0x7f},  /* contents */
        {7, 0xff},                         /* negative */
        {8, 0},     {8, 21},   {11, 0x7f}, /* block */
        {11, 0xff},                        /* negative */
        {12, 35},   {12, 37},  {15, 0x7f}, /* buffer */
        {15, 0xff}, {12, 0},
    };
    uint8_t p[BLOSC_PACKED], dst[BLOSC_N];
    for (size_t i = 0; i < COV_COUNT(patches); i++) {
        make_blosc(p);
        p[patches[i].at] = patches[i].value;
        assert_fails(cov_blosc.decode(p, BLOSC_PACKED, dst, BLOSC_N, &e), COV_EINPUT, "blosc: ");
    }
    make_blosc(p);
    for (size_t cut = 0; cut < BLOSC_PACKED; cut++)
        assert_int_equal(cov_blosc.decode(p, cut, dst, BLOSC_N, NULL), COV_EINPUT);
}

/* Data of any compressor is decoded or refused, whether or not libblosc has the compressor. */
TEST(blosc_compressors)
{
    enum { M = 40000 };
    static uint8_t src[M], packed[M], dst[M];
    size_t n;
    for (size_t i = 0; i < M; i++)
        src[i] = (uint8_t)(i >> 6);
    assert_int_equal(cov_blosc.encode(1, 4, src, M, packed, &n, NULL), 0);
    assert_true(n > 0);
    assert_int_equal(packed[2] >> 5, 4); /* Zstandard */
    assert_int_equal(packed[2] & 7, 1);  /* shuffled by bytes */
    assert_int_equal(packed[3], 4);
    for (unsigned format = 0; format < 8; format++) {
        packed[2] = (uint8_t)((packed[2] & 0x1f) | format << 5);
        int rc = cov_blosc.decode(packed, n, dst, M, NULL);
        assert_int_equal(format == 4, rc == 0);
        assert_true(rc == 0 || rc == COV_EINPUT || (format < 5 && rc == COV_EUNSUPPORTED));
    }
}

TEST(blosc_values)
{
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
        assert_int_equal(cov_blosc.values(3, cases[i].elem_bytes, 1000, values), 7);
        assert_memory_equal(values, cases[i].expected, sizeof values);
    }
}

/* ---- LZ4 ---- */

/* The byte 7 is repeated 250 times, in blocks of 100. Two blocks have a literal, a match of 94
 * bytes and five literals; the last block has 50 stored bytes. */
enum {
    LZ4_N = 250,
    LZ4_HEAD = 12,
    LZ4_BLOCK = 4 + 11,
    LZ4_PLAIN = 4 + 50,
    LZ4_PACKED = LZ4_HEAD + 2 * LZ4_BLOCK + LZ4_PLAIN
};

static void make_lz4(uint8_t *p)
{
    static const uint8_t head[LZ4_HEAD] = {0, 0, 0, 0, 0, 0, 0, LZ4_N, 0, 0, 0, 100},
                         block[LZ4_BLOCK] = {0, 0, 0, 11, 0x1f, 7, 1, 0, 75, 0x50, 7, 7, 7, 7, 7},
                         plain[4] = {0, 0, 0, 50};
    memcpy(p, head, LZ4_HEAD);
    memcpy(p + LZ4_HEAD, block, LZ4_BLOCK);
    memcpy(p + LZ4_HEAD + LZ4_BLOCK, block, LZ4_BLOCK);
    memcpy(p + LZ4_HEAD + 2 * LZ4_BLOCK, plain, sizeof plain);
    memset(p + LZ4_HEAD + 2 * LZ4_BLOCK + 4, 7, 50);
}

TEST(lz4_blocks)
{
    uint8_t p[LZ4_PACKED], dst[LZ4_N], expected[LZ4_N];
    make_lz4(p);
    memset(expected, 7, LZ4_N);
    assert_int_equal(cov_lz4.claim(NULL, 0, p, LZ4_PACKED), LZ4_N);
    assert_int_equal(cov_lz4.claim(NULL, 0, p, LZ4_HEAD - 1), 0);
    assert_int_equal(cov_lz4.decode(p, LZ4_PACKED, dst, LZ4_N, NULL), 0);
    assert_memory_equal(dst, expected, LZ4_N);
    /* If the block size exceeds the chunk's size, there is one block. */
    uint8_t one[LZ4_HEAD + LZ4_BLOCK] = {0, 0, 0, 0, 0, 0, 0, 100, 0x40, 0, 0, 0};
    memcpy(one + LZ4_HEAD, p + LZ4_HEAD, LZ4_BLOCK);
    assert_int_equal(cov_lz4.decode(one, sizeof one, dst, 100, NULL), 0);
    assert_memory_equal(dst, expected, 100);
}

TEST(lz4_wrong_fields)
{
    static const struct patch patches[] = {
        {7, 249},                         /* size of the chunk */
        {0, 0x80},                        /* absurd */
        {3, 1},                           /* correct in the lower 32 bits */
        {11, 0},                          /* block size 0 */
        {11, 99},  {11, 101}, {8, 0xff},  /* other block sizes */
        {15, 10},  {15, 12},  {12, 0xff}, /* compressed size of a block */
        {15, 100},                        /* a stored block past the end */
        {45, 51},  {45, 49},  {45, 0},    /* size of the stored block */
        {18, 2},                          /* a match before the start */
        {20, 74},  {20, 76},  {20, 255},  /* a match too short, too long */
    };
    uint8_t p[LZ4_PACKED + 1], dst[LZ4_N];
    for (size_t i = 0; i < COV_COUNT(patches); i++) {
        make_lz4(p);
        p[patches[i].at] = patches[i].value;
        assert_fails(cov_lz4.decode(p, LZ4_PACKED, dst, LZ4_N, &e), COV_EINPUT, "lz4: ");
    }
    make_lz4(p);
    p[LZ4_PACKED] = 0;
    assert_int_equal(cov_lz4.decode(p, LZ4_PACKED + 1, dst, LZ4_N, NULL), COV_EINPUT);
}

/* The encoder writes the header of the format and one block. */
TEST(lz4_header)
{
    enum { M = 70000 };
    static uint8_t src[M], packed[M];
    static const uint8_t head[LZ4_HEAD] = {0, 0, 0, 0, 0, 1, 0x11, 0x70, 0, 1, 0x11, 0x70};
    size_t n;
    assert_int_equal(cov_lz4.encode(0, 0, src, M, packed, &n, NULL), 0);
    assert_memory_equal(packed, head, LZ4_HEAD);
    size_t block = (size_t)packed[12] << 24 | packed[13] << 16 | packed[14] << 8 | packed[15];
    assert_int_equal(n, LZ4_HEAD + 4 + block);
}

/* ---- Zstandard ---- */

#define MAGIC 0x28, 0xb5, 0x2f, 0xfd

static void check_zstd(const uint8_t *frame, size_t n, size_t n_dst, int rc, const char *text)
{
    uint8_t *src = unit_alloc(n), *dst = unit_alloc(n_dst);
    memcpy(src, frame, n);
    assert_fails(cov_zstd.decode(src, n, dst, n_dst, &e), rc, text);
    for (size_t i = 0; rc == 0 && i < n_dst; i++)
        assert_int_equal(dst[i], 'a');
}

TEST(zstd_frames)
{
    /* One raw block of three bytes. The frame size takes one byte or is missing. */
    static const uint8_t plain[] = {MAGIC, 0x20, 3, 0x19, 0, 0, 'a', 'a', 'a'},
                         silent[] = {MAGIC, 0x00, 0, 0x19, 0, 0, 'a', 'a', 'a'},
                         /* A byte repeated 2^17 times, with frame size 2^17, with frame size 3, and
                          * without one. */
        run[] = {MAGIC, 0xa0, 0, 0, 2, 0, 0x03, 0, 0x10, 'a'},
                         bomb[] = {MAGIC, 0x20, 3, 0x03, 0, 0x10, 'a'},
                         silent_bomb[] = {MAGIC, 0x00, 0x38, 0x03, 0, 0x10, 'a'},
                         /* The frame size is 2^62. */
        huge[] = {MAGIC, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x19, 0, 0, 'a', 'a', 'a'},
                         two[] = {MAGIC, 0x20,  3,    0x19, 0, 0, 'a', 'a',
                                  'a',   MAGIC, 0x20, 0,    1, 0, 0},
                         trailing[] = {MAGIC, 0x20, 3, 0x19, 0, 0, 'a', 'a', 'a', 0},
                         skipped[] = {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0},
                         early[] = {0x27, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0, 'a', 'a', 'a'};
    check_zstd(plain, sizeof plain, 3, 0, "");
    assert_int_equal(cov_zstd.claim(NULL, 0, plain, sizeof plain), 3);
    check_zstd(plain, sizeof plain, 4, COV_EINPUT, "3 bytes instead of the 4");
    check_zstd(silent, sizeof silent, 3, 0, "");
    assert_int_equal(cov_zstd.claim(NULL, 0, silent, sizeof silent), 0);
    check_zstd(silent, sizeof silent, 4, COV_EINPUT, "3 bytes instead of the 4");
    check_zstd(silent, sizeof silent, 2, COV_EINPUT, "zstd: ");
    check_zstd(run, sizeof run, (size_t)1 << 17, 0, "");
    check_zstd(run, sizeof run, 1000, COV_EINPUT, "131072 bytes instead of the 1000");
    check_zstd(bomb, sizeof bomb, 3, COV_EINPUT, "damaged");
    check_zstd(silent_bomb, sizeof silent_bomb, 3, COV_EINPUT, "zstd: ");
    check_zstd(huge, sizeof huge, 3, COV_EINPUT, "zstd: ");
    assert_int_equal(cov_zstd.claim(NULL, 0, huge, sizeof huge), (uint64_t)1 << 62);
    check_zstd(two, sizeof two, 3, COV_EINPUT, "damaged");
    check_zstd(trailing, sizeof trailing, 3, COV_EINPUT, "damaged");
    check_zstd(skipped, sizeof skipped, 3, COV_EINPUT, "damaged");
    assert_int_equal(cov_zstd.claim(NULL, 0, skipped, sizeof skipped), 0);
    check_zstd(early, sizeof early, 3, COV_EINPUT, "damaged");
    assert_int_equal(cov_zstd.claim(NULL, 0, early, sizeof early), 0);
    for (size_t cut = 0; cut < sizeof plain; cut++)
        check_zstd(plain, cut, 3, COV_EINPUT, "damaged");
}
