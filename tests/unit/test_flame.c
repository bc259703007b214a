/* test_flame.c - flame graphs of perf samples.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "tools/benchmark/flame.h"

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
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(flame_draw(samples, strlen(samples), "a & b", f, NULL), 0);
    assert_int_equal(fclose(f), 0);
    assert_non_null(strstr(text, "a &amp; b"));
    assert_non_null(strstr(text, "<title>all 100.0 %</title>"));
    assert_non_null(strstr(text, "<title>main 100.0 %</title>"));
    assert_non_null(strstr(text, "<title>work&lt;int&gt; 66.7 %</title>"));
    assert_null(strstr(text, "unknown"));
    assert_int_equal(count(text, "<title>"), 3);
    assert_int_equal(count(text, "<g>"), count(text, "</g>"));
    free(text);
}

/* Labels are complete or absent. */
TEST(does_not_cut_labels)
{
    char *text = NULL, *many = NULL;
    size_t n = 0, n_many = 0;
    FILE *f = open_memstream(&many, &n_many);
    for (int i = 0; i < 30; i++)
        (void)fprintf(f, "tool \n\t    7f1 %s+0x1 (/bin/tool)\n\t    7f0 main+0x1 (/bin/tool)\n\n",
                      i ? "wide_box" : "narrow_box");
    assert_int_equal(fclose(f), 0);
    f = open_memstream(&text, &n);
    assert_int_equal(flame_draw(many, n_many, "x", f, NULL), 0);
    assert_int_equal(fclose(f), 0);
    assert_non_null(strstr(text, ">wide_box</text>"));
    assert_non_null(strstr(text, "<title>narrow_box 3.3 %</title>"));
    assert_null(strstr(text, "\">narr"));
    free(text);
    free(many);
}

TEST(rejects_empty_input)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(flame_draw("", 0, "x", f, &e), COV_EINPUT);
    assert_string_equal(e.text, "no samples");
    (void)fclose(f);
    free(text);
}
