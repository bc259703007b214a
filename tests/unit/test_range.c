/* test_range.c - regions as text.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <string.h>

#include "common/seq/range.h"

static void means_what_it_says(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        int64_t beg, end; /* end 0: another sequence is meant */
    } cases[] = {
        {"chr1:1-10", "chr1", 0, 10},
        {"chr1:1,001-2,000,000", "chr1", 1000, 2000000},
        {"chr1", "chr1", 0, INT64_MAX},
        {"chr1:1-10", "chr1:1-10", 0, INT64_MAX},
        {"chr1:1-10", "chr", 0, 0},
        {"chr1:1-10", "chr10", 0, 0},
        {"HLA*1:2:7-9", "HLA*1:2", 6, 9},
        {"HLA*1:2:7-9", "HLA*1", 0, 0},
        {"chr1:1-", "chr1", 0, 0},
        {"chr1:-10", "chr1", 0, 0},
        {"chr1:1-10x", "chr1", 0, 0},
        {"chr1:1,-10", "chr1", 0, 0},
        {"chr1:,1-10", "chr1", 0, 0},
        {"chr1:10", "chr1", 0, 0},
        {"chr1:1-1000000000000000000", "chr1", 0, 0},
        {"chr1:1-9999999999999999999", "chr1", 0, 0},
        {"chr1:1-999999999999999999", "chr1", 0, 999999999999999999},
        {":1-10", "", 0, 0},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_range r;
        int64_t beg = 0, end = 0;
        assert_int_equal(cov_range_parse(cases[i].text, &r, NULL), COV_OK);
        assert_int_equal(cov_range_means(&r, cases[i].name, &beg, &end), cases[i].end > 0);
        assert_int_equal(beg, cases[i].beg);
        assert_int_equal(end, cases[i].end);
    }
}

static void refuses_what_is_no_range(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "a region is wanted"},
        {"chr1:0-10", "chr1:0-10: positions count from 1"},
        {"chr1:10-9", "chr1:10-9: it ends before it begins"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_range r;
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(cov_range_parse(cases[i].text, &r, &e), COV_EUSAGE);
        assert_non_null(strstr(e.text, cases[i].reason));
    }
}

static void says_what_is_not_there(void **state)
{
    (void)state;
    struct cov_range r;
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_range_parse("x:5-7", &r, NULL), COV_OK);
    assert_int_equal(cov_range_fail_unknown(&r, "a.bw", &e), COV_EUSAGE);
    assert_string_equal(e.text, "region x:5-7: a.bw has no sequence x");
    cov_err_clear(&e);
    assert_int_equal(cov_range_fail_beyond(&r, 4, "x.bg", &e), COV_EUSAGE);
    assert_string_equal(
        e.text,
        "region x:5-7: it begins beyond the end of the sequence, which has 4 bases in x.bg");
    cov_err_clear(&e);
    assert_int_equal(cov_range_parse("x:5", &r, NULL), COV_OK);
    assert_int_equal(cov_range_fail_unknown(&r, "a.bw", &e), COV_EUSAGE);
    assert_string_equal(e.text,
                        "region x:5: a.bw has no sequence x:5 (NAME or NAME:FIRST-LAST is wanted)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_what_it_says),
        cmocka_unit_test(refuses_what_is_no_range),
        cmocka_unit_test(says_what_is_not_there),
    };
    return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}
