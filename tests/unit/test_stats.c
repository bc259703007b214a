/* test_stats.c - statistics of a run, in our format and in that of MultiQC.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/cli/stats.h"
#include "tests/lib/own_folder.h"

static void quotes_command(void **state)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    char *argv[] = {(char[]){"./tool"}, (char[]){"-@"},    (char[]){"2"}, (char[]){"it's a"},
                    (char[]){""},       (char[]){"$HOME"}, NULL};
    assert_int_equal(cov_stats_set_command(&s, 6, argv, NULL), COV_OK);
    assert_string_equal(s.command, "./tool -@ 2 'it'\\''s a' '' '$HOME'");
    cov_stats_fini(&s);
}

static void adds_stages_and_inputs(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                        "j", "k", "l", "m", "n", "o", "p", "q"};
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    for (size_t i = 0; i < COV_COUNT(names); i++)
        cov_stats_add_stage(&s, names[i], 1);
    cov_stats_add_stage(&s, "b", 0.5);
    assert_int_equal(s.n_stages, COV_STATS_MAX_STAGES);
    assert_true(s.stages[1].seconds == 1.5);
    assert_string_equal(s.stages[COV_STATS_MAX_STAGES - 1].name, "p");
    assert_true(s.stages[COV_STATS_MAX_STAGES - 1].seconds == 2);
    assert_int_equal(cov_stats_add_input(&s, "x", NULL), COV_OK);
    assert_int_equal(cov_stats_add_input(&s, "y", NULL), COV_OK);
    assert_int_equal(cov_stats_add_input(&s, "x", NULL), COV_OK);
    assert_int_equal(s.n_inputs, 2);
    cov_stats_fini(&s);
}

static void measures(void **state)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    enum { BYTES = 64 << 20 };
    char *memory = malloc(BYTES);
    assert_non_null(memory);
    memset(memory, 1, BYTES);
    /* The sum keeps the memory from being optimised away. */
    unsigned sum = 0;
    for (double begin = cov_clock(); cov_clock() - begin < 0.05;)
        for (int i = 0; i < BYTES; i += 4096)
            sum |= (unsigned char)memory[i];
    assert_int_equal(sum, 1);
    free(memory);
    cov_stats_finish(&s);
    assert_true(s.wall_seconds >= 0.05 && s.wall_seconds < 60);
    assert_true(s.cpu_seconds > 0.01 && s.cpu_seconds < 60);
    assert_true(s.peak_rss_bytes >= BYTES);
    cov_stats_fini(&s);
}

static void writes(void **state)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.threads = 2;
    s.wall_seconds = 2;
    s.cpu_seconds = 3;
    s.peak_rss_bytes = 1024;
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_stats_write(&s, "stats.json", &e), COV_OK);
    char *text = get_bytes("stats.json", NULL);
    assert_string_equal(text, "{\n"
                              "  \"tool\": \"tool\",\n"
                              "  \"version\": \"1.2.3\",\n"
                              "  \"command\": null,\n"
                              "  \"inputs\": [],\n"
                              "  \"device\": \"cpu\",\n"
                              "  \"threads\": 2,\n"
                              "  \"precision\": null,\n"
                              "  \"wall_seconds\": 2,\n"
                              "  \"cpu_seconds\": 3,\n"
                              "  \"peak_rss_bytes\": 1024\n"
                              "}\n");
    free(text);

    s.bases = 100;
    s.chunks = 5;
    s.positions_computed = 0;
    s.positions_at_rest = 9;
    s.chunks_repeated = 1;
    s.precision = "exact";
    cov_stats_add_stage(&s, "read", 0.5);
    assert_int_equal(cov_stats_write(&s, "stats.json", &e), COV_OK); /* replaces the first file */
    text = get_bytes("stats.json", NULL);
    assert_non_null(strstr(text, "  \"precision\": \"exact\",\n"));
    assert_non_null(strstr(text, "  \"bases\": 100,\n"
                                 "  \"chunks\": 5,\n"
                                 "  \"positions_computed\": 0,\n"
                                 "  \"positions_at_rest\": 9,\n"
                                 "  \"chunks_repeated\": 1,\n"
                                 "  \"bases_per_second\": 50,\n"
                                 "  \"chunks_per_second\": 2.5,\n"
                                 "  \"stages\": {\n"
                                 "    \"read\": 0.5\n"
                                 "  }\n"
                                 "}\n"));
    free(text);

    assert_int_equal(cov_stats_write(&s, "y_mqc.json", &e), COV_OK);
    text = get_bytes("y_mqc.json", NULL);
    assert_non_null(strstr(text, "  \"id\": \"covtools_tool\",\n"));
    assert_non_null(strstr(text, "    \"y\": {\n"));
    assert_non_null(strstr(text, "  \"bases\": 100,\n")); /* includes the fields of stats.json */
    free(text);
    assert_int_equal(count_files("."), 2);

    assert_int_equal(cov_stats_write(&s, "absent/x", &e), COV_EIO);
    check_error(&e, COV_EIO, "absent/x: ");
    assert_int_equal(cov_stats_write(&s, "/dev/full", &e), COV_EIO);
    assert_string_equal(e.text, "/dev/full: No space left on device");
    cov_stats_fini(&s);
}

/* MultiQC's sample is the file name without its suffix; files with other suffixes have none. */
static void names_multiqc_samples(void **state)
{
    static const struct {
        const char *path, *row;
    } cases[] = {
        {"b.c/x_mqc.json", "    \"x\": {\n"},
        {"weed.cpg.1of4_mqc.json", "    \"weed.cpg.1of4\": {\n"},
        {"x.json", NULL},
        {"_mqc.json", NULL},
        {"b.c/_mqc.json", NULL},
        {"x_mqc.json.gz", NULL},
        {"a_mqc.json/x", NULL},
    };
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    assert_int_equal(mkdir("b.c", 0777), 0);
    assert_int_equal(mkdir("a_mqc.json", 0777), 0);
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        assert_int_equal(cov_stats_write(&s, cases[i].path, NULL), COV_OK);
        char *text = get_bytes(cases[i].path, NULL);
        assert_int_equal(strstr(text, "\"id\": ") != NULL, cases[i].row != NULL);
        assert_true(!cases[i].row || strstr(text, cases[i].row));
        free(text);
    }
    cov_stats_fini(&s);
}

/* Returns the statistics for MultiQC as an object. The caller frees it. */
static char *print_multiqc(const struct cov_stats *s, const char *sample)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    cov_stats_print_multiqc(s, sample, &j);
    cov_json_end_object(&j);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void prints_time_and_memory_for_multiqc(void **state)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.wall_seconds = 2;
    s.cpu_seconds = 3;
    s.threads = 4;
    s.peak_rss_bytes = -1;
    s.bases = 100;
    char *text = print_multiqc(&s, "x");
    assert_non_null(strstr(text, "\"id\": \"covtools_tool\","));
    assert_non_null(strstr(text, "\"section_name\": \"tool\","));
    assert_non_null(strstr(text, "\"description\": \"Results, time and memory of tool 1.2.3.\","));
    assert_non_null(strstr(text, "    \"bases\": {\n"
                                 "      \"title\": \"Bases\",\n"
                                 "      \"description\": \"bases of the genome\",\n"
                                 "      \"format\": \"{:,.0f}\"\n"
                                 "    }"));
    assert_null(strstr(text, "peak_rss_mb")); /* unknown, so it is omitted */
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

static void prints_figures_for_multiqc(void **state)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.section = "tool --compare it";
    s.peak_rss_bytes = -1;
    assert_int_equal(cov_stats_add_figure(&s, NULL, "n", "how many", 0, 7, NULL), COV_OK);
    assert_int_equal(cov_stats_add_figure(&s, "a", "r", "how well", 3, 0.5, NULL), COV_OK);
    assert_int_equal(cov_stats_add_figure(&s, "b", "r", "how well", 3, (double)NAN, NULL), COV_OK);
    assert_int_equal(cov_stats_add_figure(&s, "a", "q", "how else", 3, 0.25, NULL), COV_OK);
    char *text = print_multiqc(&s, "x");
    assert_non_null(strstr(text, "\"id\": \"covtools_tool_compare_it\","));
    const char *headers = strstr(text, "\"headers\"");
    const char *header = strstr(headers, "\"r\": {");
    assert_non_null(header);
    assert_null(strstr(header + 1, "\"r\": {")); /* the header occurs only once for two parts */
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
        cmocka_unit_test(quotes_command),
        cmocka_unit_test(adds_stages_and_inputs),
        cmocka_unit_test(measures),
        cmocka_unit_test(writes),
        cmocka_unit_test(names_multiqc_samples),
        cmocka_unit_test(prints_time_and_memory_for_multiqc),
        cmocka_unit_test(prints_figures_for_multiqc),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
