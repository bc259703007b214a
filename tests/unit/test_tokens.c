/* test_tokens.c - round trips and sizes of the deflate encoder for records and lines.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/deflate/deflate.h"

enum { MOST = 70000 };

static struct cov_tokens tokens;
static uint8_t src[MOST], dst[2 * MOST], back[MOST];

static int setup(void **state)
{
    return cov_tokens_bound(MOST) > sizeof dst || cov_tokens_init(&tokens, MOST, NULL);
}

static int teardown(void **state)
{
    cov_tokens_fini(&tokens);
    return 0;
}

static size_t check(size_t n)
{
    size_t n_dst = cov_tokens_zlib(&tokens, src, n, dst);
    assert_true(n_dst + 8 <= cov_tokens_bound(n));
    assert_int_equal(tokens.n, 0);
    struct cov_err e = COV_ERR_INIT;
    if (cov_inflate(dst, n_dst, back, n, &e))
        fail_msg("%zu bytes: %s", n, e.text);
    assert_memory_equal(back, src, n);
    return n_dst;
}

static size_t check_strides(size_t n, const unsigned *dists, size_t n_dists)
{
    cov_tokens_strides(&tokens, src, n, dists, n_dists);
    return check(n);
}

TEST(short_data)
{
    static const unsigned dists[] = {12, 8};
    for (size_t n = 0; n < 100; n++) {
        for (size_t i = 0; i < n; i++)
            src[i] = (uint8_t)(i * i >> 3);
        assert_true(check_strides(n, dists, 2) <= n + 11);
        cov_tokens_lines(&tokens, src, n);
        (void)check(n);
    }
}

TEST(noise_is_stored)
{
    static const unsigned dists[] = {1};
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (size_t i = 0; i < MOST; i++)
        src[i] = (uint8_t)cov_rng_below(&rng, 256);
    assert_int_equal(check_strides(MOST, dists, 1), MOST + 2 * 5 + 6);
    assert_int_equal(check_strides(65535, dists, 1), 65535 + 5 + 6);
}

/* Runs of all lengths and distances, so that all their symbols occur. */
TEST(lengths_and_distances)
{
    size_t n = 0;
    for (size_t run = 1; n + run < MOST; run++)
        for (size_t i = 0; i < run && n < MOST; i++)
            src[n++] = (uint8_t)(run * 37);
    for (unsigned dist = 1; dist <= 32768; dist = dist * 3 / 2 + 1) {
        unsigned dists[] = {dist};
        (void)check_strides(n, dists, 1);
    }
    for (size_t i = 0; i < 32768; i++)
        src[i] = (uint8_t)(i * i >> 5);
    memcpy(src + 32768, src, 32768);
    unsigned far[] = {32768};
    (void)check_strides(65536, far, 1);
}

/* Without a limit, symbols with Fibonacci frequencies would get codes of more than 15 bits. */
TEST(code_length_limit)
{
    static const unsigned dists[] = {MOST};
    size_t n = 0;
    for (size_t symbol = 0, a = 1, b = 1; n + a < MOST; symbol++) {
        for (size_t i = 0; i < a; i++)
            src[n++] = (uint8_t)(symbol * 5);
        size_t next = a + b;
        a = b;
        b = next;
    }
    assert_true(n > 40000);
    assert_true(check_strides(n, dists, 1) < n / 3);
}

TEST(records)
{
    static const unsigned dists[] = {12, 8};
    enum { HEAD = 24 };
    struct cov_rng rng;
    cov_rng_init(&rng, 2);
    uint32_t at = 0;
    size_t n = HEAD;
    memset(src, 7, n);
    for (size_t i = 0; n + 12 <= 12288; n += 12, i++) {
        at += i % 50 == 49;
        uint32_t end = at + 1 + (uint32_t)cov_rng_below(&rng, i % 40 ? 20 : 100000);
        float value = (float)cov_rng_below(&rng, 60);
        value = i % 100 ? value : value / 7;
        memcpy(src + n, &at, 4);
        memcpy(src + n + 4, &end, 4);
        memcpy(src + n + 8, &value, 4);
        at = end;
    }
    assert_true(check_strides(n, dists, 2) < n / 2);
    for (size_t k = n; k > n - 200; k--) {
        cov_tokens_records(&tokens, src, k, HEAD);
        assert_true(check(k) < k / 2);
    }
}

TEST(any_records)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    for (int round = 0; round < 300; round++) {
        size_t n = (size_t)cov_rng_below(&rng, 2000);
        uint64_t n_letters = 1 + cov_rng_below(&rng, 4);
        for (size_t i = 0; i < n; i++)
            src[i] = (uint8_t)cov_rng_below(&rng, n_letters);
        cov_tokens_records(&tokens, src, n, (size_t)round % 30);
        (void)check(n);
    }
}

TEST(lines)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    unsigned long at = 0, end;
    size_t n = 0;
    for (unsigned line = 0; n + 100 < 65280; line++, at = end) {
        const char *name = line < 1000 ? "chr1" : line < 1010 ? "a" : "scaffold_000000012345";
        at += line % 100 == 99 ? 50 : 0;
        end = at + 1 + cov_rng_below(&rng, 20);
        int k = snprintf((char *)src + n, 100, "%s\t%lu\t%lu\t%u\n", name, at, end,
                         (unsigned)cov_rng_below(&rng, 60));
        n += (size_t)k;
    }
    for (size_t beg = 0; beg < 60; beg++) {
        cov_tokens_lines(&tokens, src + beg, n - 2 * beg);
        size_t n_dst = cov_tokens_zlib(&tokens, src + beg, n - 2 * beg, dst);
        assert_ok(cov_inflate(dst, n_dst, back, n - 2 * beg, &e));
        assert_memory_equal(back, src + beg, n - 2 * beg);
        assert_true(n_dst < n / 4);
    }
}

/* Encodes text that is not bedGraph. */
TEST(any_text)
{
    static const char letters[] = "\t\t\t\n\n12111a";
    struct cov_rng rng;
    cov_rng_init(&rng, 4);
    for (int round = 0; round < 300; round++) {
        size_t n = (size_t)cov_rng_below(&rng, 2000);
        uint64_t n_letters = 1 + cov_rng_below(&rng, sizeof letters - 1);
        for (size_t i = 0; i < n; i++)
            src[i] = (uint8_t)letters[cov_rng_below(&rng, n_letters)];
        cov_tokens_lines(&tokens, src, n);
        (void)check(n);
    }
}

TEST(too_little_room)
{
    size_t n;
    memset(src, 'x', 100);
    assert_fails_with(cov_deflate(6, src, 100, dst, 3, &n, &e), COV_ENOMEM,
                      "buffer of 3 bytes is too small to compress 100 bytes");
}

TEST_GROUP(setup, teardown)
