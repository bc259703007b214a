/* test_windows.c - overlapping windows: they cover a sequence, their cores tile it.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/seq/windows.h"

/* By stepping along the sequence. */
static void check(int64_t length, int64_t L, int64_t N)
{
    int64_t beg = 0, core = 0, k = 0;
    for (;; k++, beg += L - N) {
        int64_t end = beg + L < length ? beg + L : length;
        struct cov_window w = cov_window_number(length, L, N, k);
        assert_int_equal(w.beg, beg);
        assert_int_equal(w.end, end);
        assert_int_equal(w.core_beg, core);
        assert_true(w.core_beg >= w.beg && w.core_end <= w.end && w.core_beg < w.core_end);
        for (; core < w.core_end; core++)
            assert_int_equal(cov_window_at(length, L, N, core), k);
        if (end == length)
            break;
        /* As far from the end of this window as from the beginning of the next. */
        assert_in_range(w.end - w.core_end - (w.core_end - (beg + L - N)), 0, 1);
    }
    assert_int_equal(core, length);
    /* A last window for which the one before would do is not there. */
    assert_true(k == 0 || beg - (L - N) + L < length);
}

static void test_all(void **state)
{
    (void)state;
    for (int64_t L = 1; L <= 9; L++)
        for (int64_t N = 0; N < L; N++)
            for (int64_t length = 1; length <= 40; length++)
                check(length, L, N);
}

static void test_long(void **state)
{
    (void)state;
    const int64_t length = INT64_C(1) << 50, L = 21384, N = 5000;
    struct cov_window w = cov_window_number(length, L, N, cov_window_at(length, L, N, length - 1));
    assert_int_equal(w.end, length);
    assert_in_range(w.end - w.beg, N + 1, L);
    w = cov_window_number(length, L, N, cov_window_at(length, L, N, length / 3));
    assert_in_range(length / 3, w.core_beg, w.core_end - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_long)};
    return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
