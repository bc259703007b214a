/* test_rng.c - random numbers.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/err.h"
#include "common/base/rng.h"

/* Compares the first outputs for the state 1, 2, 3, 4 with those published by the authors. */
TEST(matches_reference)
{
    static const uint64_t expected[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};
    struct cov_rng r = {{1, 2, 3, 4}};
    for (size_t i = 0; i < COV_COUNT(expected); i++)
        assert_true(cov_rng_next(&r) == expected[i]);

    /* The state after seeding with 0 consists of outputs of splitmix64. */
    cov_rng_init(&r, 0);
    assert_true(r.s[0] == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(r.s[1] == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(r.s[2] == UINT64_C(0x06c45d188009454f));
    assert_true(r.s[3] == UINT64_C(0xf88bb8a8724c81ec));
}

TEST(is_uniform)
{
    enum { N = 70000, KINDS = 7 };
    int counts[KINDS] = {0};
    double sum = 0;
    struct cov_rng r;
    cov_rng_init(&r, 1);
    for (int i = 0; i < N; i++) {
        uint64_t x = cov_rng_below(&r, KINDS);
        assert_true(x < KINDS);
        counts[x]++;
        double d = cov_rng_double(&r);
        assert_true(d >= 0 && d < 1);
        sum += d;
    }
    /* The bounds are five standard deviations from the mean. */
    for (int k = 0; k < KINDS; k++)
        assert_in_range(counts[k], N / KINDS - 465, N / KINDS + 465);
    assert_true(sum / N > 0.5 - 0.0055 && sum / N < 0.5 + 0.0055);
    assert_true(cov_rng_below(&r, 1) == 0);
    assert_true(cov_rng_below(&r, UINT64_MAX) < UINT64_MAX);
}
