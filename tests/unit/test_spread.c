/* test_spread.c - quantiles and steps of a track against a sorted array of its bases.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/track/measures/spread.h"

enum { N = 5000 };

static const char *const names[] = {"c"};
static const int64_t lengths[] = {1 << 20};
static const struct cov_track_contigs contigs = {1, names, lengths};

static void check_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.17g instead of %.17g", got, want);
}

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
    (void)state;
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
    (void)state;
}

TEST(knows_nothing_of_an_empty_track)
{
    struct cov_spread s;
    assert_ok(cov_spread_init(&s, "t", &contigs, &e));
    assert_ok(cov_track_close(&s.sink, &e));
    cov_spread_finish(&s);
    assert_true(isnan(cov_spread_quantile(&s, 0.5)));
    cov_track_free(&s.sink);
    (void)state;
}
