/* test_multiqc.c - statistics as MultiQC reads them.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli/multiqc.h"

static void names_sample(void **state)
{
    (void)state;
    static const struct {
        const char *path, *sample;
    } cases[] = {
        {"a/b.c/x_mqc.json", "x"}, {"weed.cpg.1of4_mqc.json", "weed.cpg.1of4"},
        {"x.json", NULL},          {"_mqc.json", NULL},
        {"a/_mqc.json", NULL},     {"x_mqc.json.gz", NULL},
        {"a_mqc.json/x", NULL},    {"-", NULL},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        char *sample = NULL;
        assert_int_equal(cov_multiqc_sample(cases[i].path, &sample, NULL), COV_OK);
        if (cases[i].sample)
            assert_string_equal(sample, cases[i].sample);
        else
            assert_null(sample);
        free(sample);
    }
}

/* What is printed, in an object of its own. Caller frees. */
static char *print(const struct cov_stats *s, const char *sample)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    cov_multiqc_print(s, sample, &j);
    cov_json_end_object(&j);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void prints_costs(void **state)
{
    (void)state;
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.wall_seconds = 2;
    s.cpu_seconds = 3;
    s.threads = 4;
    s.peak_rss_bytes = -1;
    s.bases = 100;
    char *text = print(&s, "x");
    assert_non_null(strstr(text, "\"id\": \"covtools_tool\","));
    assert_non_null(strstr(text, "\"section_name\": \"tool\","));
    assert_non_null(strstr(text, "\"description\": \"What tool 1.2.3 did, and what it cost.\","));
    assert_non_null(strstr(text, "    \"bases\": {\n"
                                 "      \"title\": \"Bases\",\n"
                                 "      \"description\": \"bases of the genome\",\n"
                                 "      \"format\": \"{:,.0f}\"\n"
                                 "    }"));
    assert_null(strstr(text, "peak_rss_mb")); /* unknown, and no chunks */
    assert_non_null(strstr(text, "  \"data\": {\n"
                                 "    \"x\": {\n"
                                 "      \"wall_seconds\": 2,\n"
                                 "      \"cpu_seconds\": 3,\n"
                                 "      \"threads\": 4,\n"
                                 "      \"bases\": 100,\n"
                                 "      \"bases_per_second\": 50\n"
                                 "    }\n"
                                 "  }\n"
                                 "}\n"));
    free(text);
    cov_stats_fini(&s);
}

static void prints_figures(void **state)
{
    (void)state;
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.section = "tool --compare it";
    s.peak_rss_bytes = -1;
    assert_int_equal(cov_stats_add_figure(&s, NULL, "n", "how many", 0, 7, NULL), COV_OK);
    assert_int_equal(cov_stats_add_figure(&s, "a", "r", "how well", 3, 0.5, NULL), COV_OK);
    assert_int_equal(cov_stats_add_figure(&s, "b", "r", "how well", 3, (double)NAN, NULL), COV_OK);
    assert_int_equal(cov_stats_add_figure(&s, "a", "q", "how else", 3, 0.25, NULL), COV_OK);
    char *text = print(&s, "x");
    assert_non_null(strstr(text, "\"id\": \"covtools_tool_compare_it\","));
    const char *headers = strstr(text, "\"headers\"");
    const char *header = strstr(headers, "\"r\": {");
    assert_non_null(header);
    assert_null(strstr(header + 1, "\"r\": {")); /* once, though two parts have it */
    assert_non_null(strstr(text, "    \"x\": {\n"
                                 "      \"n\": 7,\n"
                                 "      \"wall_seconds\": 0,\n"
                                 "      \"cpu_seconds\": 0,\n"
                                 "      \"threads\": 0\n"
                                 "    },\n"
                                 "    \"x.a\": {\n"
                                 "      \"r\": 0.5,\n"
                                 "      \"q\": 0.25\n"
                                 "    },\n"
                                 "    \"x.b\": {}\n"
                                 "  }\n"));
    free(text);
    cov_stats_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_sample),
        cmocka_unit_test(prints_costs),
        cmocka_unit_test(prints_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
