/* test_stats.c - what a run did and what it cost.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/cli/stats.h"

static void quotes_command(void **state)
{
    (void)state;
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
    (void)state;
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
    (void)state;
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

static char *contents(const char *path)
{
    char *text = calloc(1, 65536);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, f) > 0);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void writes(void **state)
{
    (void)state;
    char dir[] = "/tmp/cov_stats_XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/stats.json", dir);
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.threads = 2;
    s.wall_seconds = 2;
    s.cpu_seconds = 3;
    s.peak_rss_bytes = 1024;
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_stats_write(&s, path, &e), COV_OK);
    char *text = contents(path);
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
    assert_int_equal(cov_stats_write(&s, path, &e), COV_OK); /* replaces the first */
    text = contents(path);
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
    assert_int_equal(unlink(path), 0);

    (void)snprintf(path, sizeof path, "%s/x_mqc.json", dir);
    assert_int_equal(cov_stats_write(&s, path, &e), COV_OK);
    text = contents(path);
    assert_non_null(strstr(text, "  \"id\": \"covtools_tool\",\n"));
    assert_non_null(strstr(text, "    \"x\": {\n"));
    assert_non_null(strstr(text, "  \"bases\": 100,\n")); /* all of the above besides */
    free(text);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0); /* nothing else was left there */

    assert_int_equal(cov_stats_write(&s, path, &e), COV_EIO);
    assert_non_null(strstr(e.text, "cov_stats_"));
    cov_err_clear(&e);
    assert_int_equal(cov_stats_write(&s, "/dev/full", &e), COV_EIO);
    assert_string_equal(e.text, "/dev/full: No space left on device");
    cov_stats_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_command),
        cmocka_unit_test(adds_stages_and_inputs),
        cmocka_unit_test(measures),
        cmocka_unit_test(writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
