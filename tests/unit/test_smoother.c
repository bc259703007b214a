/* test_smoother.c - what is asked for as text, and which of the ways of smoothing it is.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <string.h>

#include "common/track/smoother.h"

static void reads_what_is_wanted(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double sd;
    } cases[] = {
        {"gauss:50", 50},
        {"gauss:2.5", 2.5},
        {"gauss:1e-3", 1e-3},
        {"gauss:10000", 10000},
        {"gauss:", 0},
        {"gauss", 0},
        {"gauss:0", 0},
        {"gauss:-1", 0},
        {"gauss:10001", 0},
        {"gauss:nan", 0},
        {"gauss:5x", 0},
        {"mean:5", 0},
        {"", 0},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_smoothing s = {0};
        struct cov_err e = COV_ERR_INIT;
        int rc = cov_smoothing_parse(cases[i].text, "--smooth", &s, &e);
        assert_int_equal(rc, cases[i].sd > 0 ? COV_OK : COV_EUSAGE);
        assert_true(rc || s.sd == cases[i].sd);
        assert_true(!rc || strncmp(e.text, "--smooth: ", 10) == 0);
    }
}

static void names_files(void **state)
{
    (void)state;
    static const struct {
        struct cov_smoothing s;
        const char *tail;
    } cases[] = {
        {{0, 0}, ""},
        {{150, 0}, "_ws=150"},
        {{0, 50}, "_smooth=50"},
        {{0, 2.5}, "_smooth=2.5"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        char tail[COV_SMOOTHING_TAIL];
        cov_smoothing_tail(&cases[i].s, tail);
        assert_string_equal(tail, cases[i].tail);
    }
}

static void smooths_in_either_way(void **state)
{
    (void)state;
    const struct cov_smoothing none = {0}, mean = {.window = 3}, gauss = {.sd = 0.5};
    struct cov_smoother s;
    assert_int_equal(cov_smoother_init(&s, &none, false, NULL), COV_OK);
    assert_false(s.smooths);
    cov_smoother_fini(&s);
    for (int is_gauss = 0; is_gauss < 2; is_gauss++) {
        float x[5] = {0, 0, 9, 0, 0}, out[5];
        assert_int_equal(cov_smoother_init(&s, is_gauss ? &gauss : &mean, true, NULL), COV_OK);
        assert_true(s.smooths);
        cov_smoother_begin(&s);
        size_t n = cov_smoother_add(&s, x, 5, out);
        while (n < 5)
            n += cov_smoother_end(&s, out + n, 5 - n);
        assert_int_equal(cov_smoother_end(&s, out, 5), 0);
        /* exp(-2) = 0.1353: 9 / (1 + 2 * 0.1353 + ...) = 7.08 */
        static const float wanted[2][5] = {{0, 3, 3, 3, 0}, {0, 1, 7, 1, 0}};
        assert_memory_equal(out, wanted[is_gauss], sizeof out);
        cov_smoother_fini(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_wanted),
        cmocka_unit_test(names_files),
        cmocka_unit_test(smooths_in_either_way),
    };
    return cmocka_run_group_tests_name("smoother", tests, NULL, NULL);
}
