/* test_depth.c - depth from spans in any order, compared with a simple count of every base.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/features/depth.h"

enum { N = 10000, LANES = 3 };

static int32_t expected[LANES][N];

/* Reads the depth at the next n positions and compares it. */
static void check_take(struct cov_depth *d, size_t n)
{
    static int32_t got[LANES][N];
    int32_t *lanes[LANES] = {got[0], got[1], got[2]};
    size_t at = (size_t)cov_depth_taken(d);
    assert_int_equal(cov_depth_take(d, n, lanes, NULL), 0);
    assert_int_equal(cov_depth_taken(d), at + n);
    for (size_t k = 0; k < LANES; k++)
        assert_memory_equal(got[k], expected[k] + at, n * sizeof **got);
}

static void count(struct cov_depth *d, size_t lane, int64_t beg, int64_t end)
{
    assert_int_equal(cov_depth_add(d, lane, beg, end, NULL), 0);
    for (int64_t t = beg; t < end; t++)
        expected[lane][t]++;
}

/* Spans come in random order, and few pages fit in memory, so that most steps wait in the file. */
TEST(counts_in_any_order)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (size_t pages = 1; pages < 4; pages++)
        for (unsigned bits = 4; bits < 15; bits += 5) {
            struct cov_depth_options o = {LANES, N, "/tmp", pages, bits};
            struct cov_depth *d;
            memset(expected, 0, sizeof expected);
            assert_int_equal(cov_depth_new(&o, &d, NULL), 0);
            for (int i = 0; i < 5000; i++) {
                int64_t beg = (int64_t)(cov_rng_next(&rng) % N);
                int64_t end = beg + (int64_t)(cov_rng_next(&rng) % 300);
                count(d, cov_rng_next(&rng) % LANES, beg, end < N ? end : N);
            }
            for (size_t at = 0, n; at < N; at += n) {
                n = cov_rng_next(&rng) % 700;
                n = n < N - at ? n : N - at;
                check_take(d, n);
            }
            cov_depth_free(d);
        }
}

/* Spans ascend, as for sorted reads, and some are long. Depth is read along the way. */
TEST(takes_positions_early)
{
    struct cov_depth_options o = {LANES, N, "/tmp", 2, 6};
    struct cov_depth *d;
    struct cov_rng rng;
    cov_rng_init(&rng, 2);
    memset(expected, 0, sizeof expected);
    assert_int_equal(cov_depth_new(&o, &d, NULL), 0);
    for (int64_t at = 0; at < N; at += (int64_t)(cov_rng_next(&rng) % 5)) {
        int64_t n = (int64_t)(cov_rng_next(&rng) % (at % 50 ? 40 : 3000));
        count(d, (size_t)at % LANES, at, at + n < N ? at + n : N);
        while (cov_depth_taken(d) + 100 <= at)
            check_take(d, 100);
    }
    check_take(d, N - (size_t)cov_depth_taken(d));
    cov_depth_free(d);
}

TEST(skips_positions)
{
    struct cov_depth_options o = {LANES, N, "/tmp", 0, 0};
    struct cov_depth *d;
    memset(expected, 0, sizeof expected);
    assert_int_equal(cov_depth_new(&o, &d, NULL), 0);
    count(d, 0, 10, 500);
    count(d, 1, N - 1, N);
    assert_int_equal(cov_depth_take(d, 200, NULL, NULL), 0);
    check_take(d, N - 200);
    cov_depth_free(d);
    cov_depth_free(NULL);
}
