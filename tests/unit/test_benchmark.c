/* test_benchmark.c - figures are collected, written and read back; statistics; flame graphs; the report page.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/base/sort.h"
#include "tools/benchmark/bench.h"

TEST(collects_values)
{
    struct figures f = {0};
    const double values[] = {3, NAN, 1, INFINITY, 2}, none[] = {NAN};
    assert_int_equal(figures_add(&f, "a/b", values, 5, NULL), 0);
    assert_int_equal(figures_add(&f, "none", none, 1, NULL), 0);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.items[0].n, 3);
    assert_true(f.items[0].median == 2 && f.items[0].low == 1 && f.items[0].high == 3);
    assert_true(f.items[0].values[0] == 3); /* in the order added */
    assert_int_equal(figures_add_one(&f, 10, NULL, "a/%s", "b"), 0);
    assert_int_equal(f.n, 1);
    assert_true(f.items[0].median == 2.5 && f.items[0].high == 10);
    assert_null(figures_find(&f, "a"));
    assert_ptr_equal(figures_find(&f, "a/b"), &f.items[0]);
    assert_ptr_equal(figures_findf(&f, "%s/b", "a"), &f.items[0]);
    figures_fini(&f);
}

TEST(survives_json)
{
    struct figures f = {0}, back = {0};
    const double values[] = {0.1, 1e-300, 3};
    struct cov_json j;
    struct cov_json_value *v;
    assert_int_equal(figures_add(&f, "x\"y/chunks_per_second/z", values, 3, NULL), 0);
    assert_int_equal(figures_add_one(&f, 7, NULL, "z/load_seconds"), 0);
    cov_json_init(&j, begin_text());
    cov_json_begin_object(&j, NULL);
    figures_print_json(&f, &j);
    cov_json_end_object(&j);
    const char *text = end_text(j.f);
    assert_ok(cov_json_parse(text, strlen(text), &v, &e));
    assert_int_equal(figures_read(v, &back, NULL), 0);
    assert_int_equal(back.n, 2);
    assert_string_equal(back.items[0].name, "x\"y/chunks_per_second/z");
    assert_string_equal(back.items[0].unit, "chunks/s");
    assert_string_equal(back.items[1].unit, "s");
    assert_true(back.items[0].higher_is_better && !back.items[1].higher_is_better);
    assert_memory_equal(back.items[0].values, values, sizeof values);
    cov_json_free(v);
    figures_fini(&f);
    figures_fini(&back);
}

TEST(rejects_malformed_json)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{}", "missing array of figures"},
        {"{\"figures\": {}}", "missing array of figures"},
        {"{\"figures\": [1]}", "a figure without name"},
        {"{\"figures\": [{\"name\": \"a\"}]}", "figure a: \"better\" is neither higher nor lower"},
        {"{\"figures\": [{\"name\": \"a\", \"better\": \"less\"}]}",
         "figure a: \"better\" is neither higher nor lower"},
        {"{\"figures\": [{\"name\": \"a\", \"better\": \"lower\", \"values\": []}]}",
         "figure a: no values"},
        {"{\"figures\": [{\"name\": \"a\", \"better\": \"lower\", \"values\": [\"1\"]}]}",
         "figure a: a value is not a number"},
        {"{\"figures\": [{\"name\": \"a\", \"better\": \"lower\", \"values\": [1]},"
         "{\"name\": \"a\", \"better\": \"lower\", \"values\": [1]}]}",
         "figure a: duplicate"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct figures f = {0};
        struct cov_json_value *v;
        assert_ok(cov_json_parse(cases[i].text, strlen(cases[i].text), &v, &e));
        assert_fails_with(figures_read(v, &f, &e), COV_EINPUT, cases[i].why);
        cov_json_free(v);
        figures_fini(&f);
    }
}

TEST(formats_numbers)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0.0000"},     {0.5, "0.5000"},     {1.234, "1.23"},    {99.94, "99.94"},
                 {123.45, "123.5"}, {4321, "4321"},      {43210, "43.21 k"}, {1.5e6, "1.50 M"},
                 {2e9, "2.00 G"},   {1.2e-5, "1.20e-05"}};
    char text[32];
    for (size_t i = 0; i < COV_COUNT(cases); i++)
        assert_string_equal(figure_text(cases[i].value, text), cases[i].text);
}

/* ---------------------------------------------------------------- statistics */

TEST(finds_medians)
{
    double odd[] = {3, -1, 2}, even[] = {4, 1, 3, 2};
    cov_sort_doubles(odd, 3);
    cov_sort_doubles(even, 4);
    assert_true(odd[0] == -1 && odd[1] == 2 && odd[2] == 3);
    assert_true(spread_median(odd, 3) == 2);
    assert_true(spread_median(even, 4) == 2.5);
    assert_true(spread_median(even, 1) == 1);
}

TEST(single_values_have_no_width)
{
    const double a = 4, b = 5;
    struct spread r;
    assert_int_equal(spread_ratio(&a, 1, &b, 1, &r, NULL), 0);
    assert_true(r.at == 1.25 && r.low == 1.25 && r.high == 1.25);
}

/* For values within 5 % of 10 and 12, about 95 of 100 intervals contain the true ratio, and none
 * contains 1. */
TEST(intervals_cover_the_true_ratio)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    int held = 0, above_one = 0;
    for (int i = 0; i < 100; i++) {
        double a[15], b[15];
        struct spread r, again;
        for (int k = 0; k < 15; k++) {
            a[k] = 10 * (0.95 + 0.1 * cov_rng_double(&rng));
            b[k] = 12 * (0.95 + 0.1 * cov_rng_double(&rng));
        }
        assert_int_equal(spread_ratio(a, 15, b, 15, &r, NULL), 0);
        assert_int_equal(spread_ratio(a, 15, b, 15, &again, NULL), 0);
        assert_true(r.low == again.low && r.high == again.high);
        assert_true(r.low <= r.at && r.at <= r.high && r.high - r.low < 0.2);
        held += r.low <= 1.2 && r.high >= 1.2;
        above_one += r.low > 1;
    }
    assert_true(held >= 85);
    assert_int_equal(above_one, 100);
}

TEST(fits_lines)
{
    const double x[] = {1, 2, 4, 5}, y[] = {5, 7, 11, 13}, flat[] = {2, 2, 2, 2},
                 bent[] = {0, 1, 1, 0};
    struct line line = spread_line(x, y, 4);
    assert_true(fabs(line.slope - 2) < 1e-12 && fabs(line.r2 - 1) < 1e-12);
    line = spread_line(x, flat, 4);
    assert_true(line.slope == 0 && line.r2 == 1);
    assert_true(spread_line(x, bent, 4).r2 < 1e-12);
}

/* ---------------------------------------------------------------- flame graphs */

/* Three samples: two in work<int>, called by main, and one in main. */
static const char samples[] = "tool \n"
                              "\t    7f1 work<int>+0x12 (/bin/tool)\n"
                              "\t    7f0 main+0x1 (/bin/tool)\n"
                              "\n"
                              "tool \n"
                              "\t    7f3 work<int>+0x14 (/bin/tool)\n"
                              "\t    7f0 main+0x1 (/bin/tool)\n"
                              "\t    000 [unknown] ([unknown])\n"
                              "\n"
                              "tool \n"
                              "\t    7f0 main+0x9 (/bin/tool)\n";

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, word)); p++)
        n++;
    return n;
}

TEST(draws_boxes)
{
    FILE *f = begin_text();
    assert_int_equal(flame_draw(samples, strlen(samples), "a & b", f, NULL), 0);
    const char *text = end_text(f);
    assert_non_null(strstr(text, "a &amp; b"));
    assert_non_null(strstr(text, "<title>all 100.0 %</title>"));
    assert_non_null(strstr(text, "<title>main 100.0 %</title>"));
    assert_non_null(strstr(text, "<title>work&lt;int&gt; 66.7 %</title>"));
    assert_null(strstr(text, "unknown"));
    assert_int_equal(count(text, "<title>"), 3);
    assert_int_equal(count(text, "<g>"), count(text, "</g>"));
}

/* Labels are complete or absent. */
TEST(does_not_cut_labels)
{
    FILE *f = begin_text();
    for (int i = 0; i < 30; i++)
        (void)fprintf(f, "tool \n\t    7f1 %s+0x1 (/bin/tool)\n\t    7f0 main+0x1 (/bin/tool)\n\n",
                      i ? "wide_box" : "narrow_box");
    const char *many = end_text(f);
    f = begin_text();
    assert_int_equal(flame_draw(many, strlen(many), "x", f, NULL), 0);
    const char *text = end_text(f);
    assert_non_null(strstr(text, ">wide_box</text>"));
    assert_non_null(strstr(text, "<title>narrow_box 3.3 %</title>"));
    assert_null(strstr(text, "\">narr"));
}

TEST(rejects_empty_input)
{
    FILE *f = begin_text();
    assert_fails_with(flame_draw("", 0, "x", f, &e), COV_EINPUT, "no samples");
    (void)end_text(f);
}

/* ---------------------------------------------------------------- the report page */

/* A file name, and its escaped form. */
#define NAME "<b>&\"'\x7f.fa"
#define WRITTEN "&lt;b&gt;&amp;&quot;' .fa"

TEST(escapes_texts)
{
    const double one = 1;
    struct bench b = {.command = "benchmark model --fasta " NAME, .threads = 1};
    assert_int_equal(bench_advise(&b, "what " NAME, "value " NAME,
                                  cov_strdup("covpredict " NAME " --batch-size 8", NULL),
                                  cov_strdup("reason " NAME, NULL), NULL),
                     0);
    assert_int_equal(bench_note(&b, NULL, "note %s", NAME), 0);
    assert_int_equal(figures_add(&b.figures, "model/" NAME, &one, 1, NULL), 0);
    free(b.figures.items[0].unit);
    b.figures.items[0].unit = cov_strdup("unit " NAME, NULL);
    FILE *f = begin_text();
    bench_print_html(&b, NULL, 0, f);
    const char *page = end_text(f);
    static const char *const wanted[] = {
        "<code>benchmark model --fasta " WRITTEN "</code>",
        "<td>what " WRITTEN "</td>",
        "<td class=\"v\">value " WRITTEN "</td>",
        "<code>covpredict " WRITTEN " --batch-size 8</code>",
        "<td>reason " WRITTEN "</td>",
        "<li>note " WRITTEN "</li>",
        "<td>" WRITTEN "</td>",
        "<td>unit " WRITTEN "</td>",
    };
    for (size_t i = 0; i < COV_COUNT(wanted); i++)
        if (!strstr(page, wanted[i]))
            fail_msg("missing: %s", wanted[i]);
    assert_null(strstr(page, "<b>"));
    bench_fini(&b);
}
