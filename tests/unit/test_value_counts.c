/* test_value_counts.c - counts of values against counts in a plain array.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/track/measures/value_counts.h"

enum { MAX = 4096 };

TEST(counts_few_values_exactly)
{
    static const float values[] = {3, -2, 0.5F, -0.0F, 3, 0, 1e30F, -1e-30F, 0.5F};
    static const struct cov_value_count wanted[] = {{7, 1, 1e30F, 0},   {6, 2, 3, 0},
                                                    {12, 2, 0.5F, 0},   {10, 2, 0, 0},
                                                    {8, 1, -1e-30F, 0}, {2, 1, -2, 0}};
    struct cov_value_counts c;
    assert_int_equal(cov_value_counts_init(&c, MAX, NULL), 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        cov_value_counts_add(&c, values[i], i + 1, 1);
    const struct cov_value_count *got = cov_value_counts_sort(&c);
    assert_int_equal(c.n, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < c.n; i++) {
        assert_true(got[i].value == wanted[i].value);
        assert_int_equal(got[i].n, wanted[i].n);
        assert_int_equal(got[i].n_positive, wanted[i].n_positive);
    }
    cov_value_counts_fini(&c);
    (void)state;
}

/* The number of bases at or above each value that is left is exact, and values that share a count
 * are close to each other. */
TEST(joins_many_values)
{
    enum { N = 40000 };
    struct cov_value_counts c, again;
    static float values[N];
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    assert_int_equal(cov_value_counts_init(&c, MAX, NULL), 0);
    assert_int_equal(cov_value_counts_init(&again, MAX, NULL), 0);
    for (size_t i = 0; i < N; i++) {
        values[i] = (float)exp(cov_rng_double(&rng) * 18 - 6.5) * (i % 5 ? 1.0F : -1.0F);
        cov_value_counts_add(&c, values[i], 1 + i % 3, i % 2);
    }
    for (size_t i = N; i-- > 0;)
        cov_value_counts_add(&again, values[i], 1 + i % 3, i % 2);
    const struct cov_value_count *got = cov_value_counts_sort(&c);
    const struct cov_value_count *other = cov_value_counts_sort(&again);
    assert_in_range(c.n, MAX / 4, MAX);
    assert_int_equal(c.n, again.n);
    uint64_t n = 0, n_positive = 0;
    for (size_t k = 0; k < c.n; k++) {
        uint64_t wanted = 0, wanted_positive = 0;
        for (size_t i = 0; i < N; i++) {
            wanted += values[i] >= got[k].value ? 1 + i % 3 : 0;
            wanted_positive += values[i] >= got[k].value ? i % 2 : 0;
            if (values[i] > got[k].value && (k == 0 || values[i] < got[k - 1].value))
                assert_true(values[i] - got[k].value <= 0.02F * fabsf(got[k].value));
        }
        n += got[k].n;
        n_positive += got[k].n_positive;
        assert_int_equal(n, wanted);
        assert_int_equal(n_positive, wanted_positive);
        assert_true(got[k].value == other[k].value && got[k].n == other[k].n);
    }
    cov_value_counts_fini(&c);
    cov_value_counts_fini(&again);
    (void)state;
}
