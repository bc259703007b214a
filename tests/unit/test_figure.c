/* test_figure.c - figures: collected, written, read again.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "tools/benchmark/figure.h"

static void collects(void **state)
{
    (void)state;
    struct cov_figures f = {0};
    const double values[] = {3, NAN, 1, INFINITY, 2}, none[] = {NAN};
    assert_int_equal(cov_figures_add(&f, "a/b", "s", false, values, 5, NULL), 0);
    assert_int_equal(cov_figures_add(&f, "none", "s", false, none, 1, NULL), 0);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.items[0].n, 3);
    assert_true(f.items[0].median == 2 && f.items[0].low == 1 && f.items[0].high == 3);
    assert_true(f.items[0].values[0] == 3); /* in their order */
    assert_int_equal(cov_figures_add_one(&f, "a/b", "s", false, 10, NULL), 0);
    assert_int_equal(f.n, 1);
    assert_true(f.items[0].median == 2.5 && f.items[0].high == 10);
    assert_null(cov_figures_find(&f, "a"));
    assert_ptr_equal(cov_figures_find(&f, "a/b"), &f.items[0]);
    cov_figures_fini(&f);
}

static void comes_back(void **state)
{
    (void)state;
    struct cov_figures f = {0}, back = {0};
    const double values[] = {0.1, 1e-300, 3};
    char *text = NULL;
    size_t n = 0;
    struct cov_json j;
    struct cov_json_value *v;
    assert_int_equal(cov_figures_add(&f, "x\"y", "1/s", true, values, 3, NULL), 0);
    assert_int_equal(cov_figures_add_one(&f, "z", "", false, 7, NULL), 0);
    FILE *out = open_memstream(&text, &n);
    cov_json_init(&j, out);
    cov_json_begin_object(&j, NULL);
    cov_figures_print_json(&f, &j);
    cov_json_end_object(&j);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(cov_json_parse(text, n, &v, NULL), 0);
    assert_int_equal(cov_figures_read(v, &back, NULL), 0);
    assert_int_equal(back.n, 2);
    assert_string_equal(back.items[0].name, "x\"y");
    assert_string_equal(back.items[0].unit, "1/s");
    assert_true(back.items[0].higher_is_better && !back.items[1].higher_is_better);
    assert_memory_equal(back.items[0].values, values, sizeof values);
    cov_json_free(v);
    free(text);
    cov_figures_fini(&f);
    cov_figures_fini(&back);
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{}", "no list of figures"},
        {"{\"figures\": {}}", "no list of figures"},
        {"{\"figures\": [1]}", "a figure has no name"},
        {"{\"figures\": [{\"name\": \"a\"}]}", "figure a: better is neither higher nor lower"},
        {"{\"figures\": [{\"name\": \"a\", \"better\": \"less\"}]}",
         "figure a: better is neither higher nor lower"},
        {"{\"figures\": [{\"name\": \"a\", \"better\": \"lower\", \"values\": []}]}",
         "figure a: no values"},
        {"{\"figures\": [{\"name\": \"a\", \"better\": \"lower\", \"values\": [\"1\"]}]}",
         "figure a: a value is not a number"},
        {"{\"figures\": [{\"name\": \"a\", \"better\": \"lower\", \"values\": [1]},"
         "{\"name\": \"a\", \"better\": \"lower\", \"values\": [1]}]}",
         "figure a stands twice"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_figures f = {0};
        struct cov_json_value *v;
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(cov_json_parse(cases[i].text, strlen(cases[i].text), &v, &e), 0);
        assert_int_equal(cov_figures_read(v, &f, &e), COV_EINPUT);
        assert_string_equal(e.text, cases[i].why);
        cov_json_free(v);
        cov_figures_fini(&f);
    }
    struct cov_figures f = {0};
    struct cov_json_value *v;
    static const char median[] =
        "{\"figures\": [{\"name\": \"a\", \"better\": \"lower\", \"median\": 4}]}";
    assert_int_equal(cov_json_parse(median, strlen(median), &v, NULL), 0);
    assert_int_equal(cov_figures_read(v, &f, NULL), 0);
    assert_true(f.items[0].n == 1 && f.items[0].median == 4);
    cov_json_free(v);
    cov_figures_fini(&f);
}

static void shows_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0.0000"},     {0.5, "0.5000"},     {1.234, "1.23"},    {99.94, "99.94"},
                 {123.45, "123.5"}, {4321, "4321"},      {43210, "43.21 k"}, {1.5e6, "1.50 M"},
                 {2e9, "2.00 G"},   {1.2e-5, "1.20e-05"}};
    char text[32];
    for (size_t i = 0; i < COV_COUNT(cases); i++)
        assert_string_equal(cov_figure_text(cases[i].value, text), cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collects),
        cmocka_unit_test(comes_back),
        cmocka_unit_test(refuses),
        cmocka_unit_test(shows_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
