/* test_spread.c - medians, intervals, ratios, lines.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <math.h>

#include "common/base/rng.h"
#include "tools/benchmark/spread.h"

static void finds_medians(void **state)
{
    (void)state;
    double odd[] = {3, -1, 2}, even[] = {4, 1, 3, 2};
    cov_spread_sort(odd, 3);
    cov_spread_sort(even, 4);
    assert_true(odd[0] == -1 && odd[1] == 2 && odd[2] == 3);
    assert_true(cov_spread_median(odd, 3) == 2);
    assert_true(cov_spread_median(even, 4) == 2.5);
    assert_true(cov_spread_median(even, 1) == 1);
}

static void single_values_have_no_width(void **state)
{
    (void)state;
    const double a = 4, b = 5;
    struct cov_spread r;
    assert_int_equal(cov_spread_ratio(&a, 1, &b, 1, &r, NULL), 0);
    assert_true(r.at == 1.25 && r.low == 1.25 && r.high == 1.25);
}

/* Of values around 10 and 12, with a spread of 5 %: the true ratio is within the interval in about 95 of
 * 100 cases, and 1 is not. */
static void intervals_hold_the_truth(void **state)
{
    (void)state;
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    int held = 0, above_one = 0;
    for (int i = 0; i < 100; i++) {
        double a[15], b[15];
        struct cov_spread r, again;
        for (int k = 0; k < 15; k++) {
            a[k] = 10 * (0.95 + 0.1 * cov_rng_double(&rng));
            b[k] = 12 * (0.95 + 0.1 * cov_rng_double(&rng));
        }
        assert_int_equal(cov_spread_ratio(a, 15, b, 15, &r, NULL), 0);
        assert_int_equal(cov_spread_ratio(a, 15, b, 15, &again, NULL), 0);
        assert_true(r.low == again.low && r.high == again.high);
        assert_true(r.low <= r.at && r.at <= r.high && r.high - r.low < 0.2);
        held += r.low <= 1.2 && r.high >= 1.2;
        above_one += r.low > 1;
    }
    assert_true(held >= 85);
    assert_int_equal(above_one, 100);
}

static void fits_lines(void **state)
{
    (void)state;
    const double x[] = {1, 2, 4, 5}, y[] = {5, 7, 11, 13}, flat[] = {2, 2, 2, 2},
                 bent[] = {0, 1, 1, 0};
    struct cov_line line = cov_spread_line(x, y, 4);
    assert_true(fabs(line.slope - 2) < 1e-12 && fabs(line.offset - 3) < 1e-12);
    assert_true(fabs(line.r2 - 1) < 1e-12);
    line = cov_spread_line(x, flat, 4);
    assert_true(line.slope == 0 && line.r2 == 1);
    assert_true(cov_spread_line(x, bent, 4).r2 < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_medians),
        cmocka_unit_test(single_values_have_no_width),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(fits_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
