/* test_bench_output.c - the report page escapes all text.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "tools/benchmark/bench.h"

/* A file name, and its escaped form. */
#define NAME "<b>&\"'\x7f.fa"
#define WRITTEN "&lt;b&gt;&amp;&quot;' .fa"

static char *print(const struct bench *b)
{
    char *page = NULL;
    size_t n;
    FILE *f = open_memstream(&page, &n);
    assert_non_null(f);
    bench_print_html(b, NULL, 0, f);
    assert_int_equal(fclose(f), 0);
    return page;
}

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
    char *page = print(&b);
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
    free(page);
    bench_fini(&b);
}
