/* test_value_counts.c - counts of values against counts in a plain array; quantiles and steps of a
 * track against a sorted array of its bases.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
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
    assert_ok(cov_value_counts_init(&c, MAX, &e));
    for (size_t i = 0; i < COV_COUNT(values); i++)
        cov_value_counts_add(&c, values[i], i + 1, 1);
    const struct cov_value_count *got = cov_value_counts_sort(&c);
    assert_int_equal(c.n, COV_COUNT(wanted));
    for (size_t i = 0; i < c.n; i++) {
        assert_true(got[i].value == wanted[i].value);
        assert_int_equal(got[i].n, wanted[i].n);
        assert_int_equal(got[i].n_positive, wanted[i].n_positive);
    }
    cov_value_counts_fini(&c);
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
    assert_ok(cov_value_counts_init(&c, MAX, &e));
    assert_ok(cov_value_counts_init(&again, MAX, &e));
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
}

/* ---- a whole track ---- */

enum { N = 5000 };

static const char *const names[] = {"c"};
static const int64_t lengths[] = {1 << 20};
static const struct cov_track_contigs contigs = {1, names, lengths};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Makes intervals with gaps. Fills x[] with the values of their bases, sorted. */
static size_t fill(struct cov_spread *s, double *x)
{
    struct cov_rng rng;
    size_t n = 0;
    int64_t at = 0;
    cov_rng_init(&rng, 7);
    assert_ok(cov_spread_init(s, "t", &contigs, &e));
    assert_ok(cov_track_begin(&s->sink, 0, &e));
    while (n + 10 <= N) {
        const int64_t length = 1 + (int64_t)cov_rng_below(&rng, 9);
        const float value = (float)cov_rng_below(&rng, 40) / 10 - 1;
        const struct cov_interval iv = {at, at + length, value};
        assert_ok(cov_track_add(&s->sink, &iv, 1, &e));
        for (int64_t i = 0; i < length; i++)
            x[n++] = (double)value;
        at += length + (int64_t)cov_rng_below(&rng, 3);
    }
    assert_ok(cov_track_close(&s->sink, &e));
    cov_spread_finish(s);
    qsort(x, n, sizeof *x, by_value);
    return n;
}

TEST(finds_quantiles)
{
    static double x[N];
    struct cov_spread s;
    const size_t n = fill(&s, x);
    uint64_t n_zero = 0;
    for (size_t i = 0; i < n; i++)
        n_zero += x[i] == 0;
    assert_int_equal(s.n_zero, n_zero);
    assert_true(n_zero > 0);
    for (int i = 0; i <= 1000; i++) {
        const double q = i / 1000.0, at = q * (double)(n - 1);
        const size_t k = (size_t)at;
        const double high = x[k + 1 < n ? k + 1 : k];
        check_near(cov_spread_quantile(&s, q), x[k] + (at - (double)k) * (high - x[k]), 1e-12);
    }
    cov_track_free(&s.sink);
}

TEST(counts_steps)
{
    static double x[N];
    struct cov_spread s;
    const size_t n = fill(&s, x);
    for (int tenths = 1; tenths < 30; tenths += 3) {
        struct cov_spread_step *steps = NULL;
        size_t n_steps, k = 0;
        assert_ok(cov_spread_steps(&s, tenths / 10.0, &steps, &n_steps, &e));
        for (size_t i = 0; i < n_steps; i++) {
            uint64_t n_bases = 0;
            /* In whole tenths, since floats are not exact. */
            const long beg = lround(10 * steps[i].value);
            assert_int_equal(beg % tenths, 0);
            for (; k < n && lround(10 * x[k]) < beg + tenths; k++, n_bases++)
                assert_true(lround(10 * x[k]) >= beg);
            assert_int_equal(steps[i].n, n_bases);
            assert_true(n_bases > 0);
        }
        assert_int_equal(k, n);
        free(steps);
    }
    cov_track_free(&s.sink);
}

TEST(knows_nothing_of_an_empty_track)
{
    struct cov_spread s;
    assert_ok(cov_spread_init(&s, "t", &contigs, &e));
    assert_ok(cov_track_close(&s.sink, &e));
    cov_spread_finish(&s);
    assert_true(isnan(cov_spread_quantile(&s, 0.5)));
    cov_track_free(&s.sink);
}
