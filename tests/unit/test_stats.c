/* test_stats.c - statistics of a run.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <sys/stat.h>

#include "common/base/progress.h"
#include "common/cli/stats_file.h"
#include "tests/lib/compact_json.h"
#include "tests/lib/own_dir.h"

/* Reads a file as compact text. */
static const char *read_json(const char *path)
{
    return compact(unit_own(get_bytes(path, NULL)));
}

TEST(quotes_command)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    char *argv[] = {(char[]){"./tool"}, (char[]){"-@"},    (char[]){"2"}, (char[]){"it's a"},
                    (char[]){""},       (char[]){"$HOME"}, NULL};
    assert_ok(cov_stats_set_command(&s, 6, argv, &e));
    assert_string_equal(s.command, "./tool -@ 2 'it'\\''s a' '' '$HOME'");
    cov_stats_fini(&s);
}

TEST(adds_stages_and_inputs)
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
    assert_ok(cov_stats_add_input(&s, "x", &e));
    assert_ok(cov_stats_add_input(&s, "y", &e));
    assert_ok(cov_stats_add_input(&s, "x", &e));
    assert_int_equal(s.n_inputs, 2);
    cov_stats_fini(&s);
}

TEST(measures)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    enum { BYTES = 64 << 20 };
    char *memory = must(malloc(BYTES));
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

TEST(writes)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.threads = 2;
    s.wall_seconds = 2;
    s.cpu_seconds = 3;
    s.peak_rss_bytes = 1024;
    assert_ok(cov_stats_write(&s, "stats.json", true, &e));
    check_text("stats.json", "{\n"
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

    s.bases = 100;
    s.chunks = 5;
    s.positions_computed = 0;
    s.positions_at_rest = 9;
    s.chunks_repeated = 1;
    s.precision = "exact";
    cov_stats_add_stage(&s, "read", 0.5);
    assert_ok(cov_stats_write(&s, "stats.json", true, &e)); /* replaces the first file */
    const char *text = read_json("stats.json");
    assert_contains(text, "'precision': 'exact', ");
    assert_contains(text, "'bases': 100, 'chunks': 5, 'positions_computed': 0, "
                          "'positions_at_rest': 9, 'chunks_repeated': 1, 'bases_per_second': 50, "
                          "'chunks_per_second': 2.5, 'stages': {'read': 0.5}}");

    assert_ok(cov_stats_write(&s, "y_mqc.json", true, &e));
    text = read_json("y_mqc.json");
    assert_contains(text, "'id': 'covtools_tool', ");
    assert_contains(text, "'y': {");
    assert_contains(text, "'peak_rss_bytes': 1024, 'bases': 100, "); /* the fields of stats.json */
    assert_int_equal(count_files("."), 2);

    assert_fails(cov_stats_write(&s, "absent/x", true, &e), COV_EIO, "absent/x: ");
    assert_fails_with(cov_stats_write(&s, "/dev/full", true, &e), COV_EIO,
                      "/dev/full: No space left on device");
    cov_stats_fini(&s);
}

/* Without `force`, keeps a file that has appeared during the run. Does not replace a broken link. */
TEST(keeps_existing_files)
{
    struct cov_stats s;
    const int n = count_files(".");
    cov_stats_init(&s, "tool", "1.2.3");
    put_text("old.json", "old");
    assert_fails_with(cov_stats_check(&s, "old.json", false, &e), COV_EEXIST,
                      "--stats: old.json: already exists; use -f to replace it");
    assert_int_equal(cov_stats_write(&s, "old.json", false, NULL), COV_EEXIST);
    check_text("old.json", "old");
    assert_ok(cov_stats_check(&s, "old.json", true, &e));
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_fails(cov_stats_check(&s, "link", false, &e), COV_EEXIST, "--stats: link: ");
    assert_fails(cov_stats_check(&s, "absent/x", false, &e), COV_EIO, "--stats: absent/x: ");
    assert_ok(cov_stats_check(&s, "-", false, &e));
    assert_ok(cov_stats_check(&s, "/dev/full", false, &e));
    assert_int_equal(count_files("."), n + 2);
    cov_stats_fini(&s);
}

TEST(adds_up_shards)
{
    static const char *const shards[] = {
        "{\"tool\": \"covpredict\", \"threads\": 2, \"wall_seconds\": 2, \"cpu_seconds\": 3, "
        "\"peak_rss_bytes\": 7000000, \"bases\": 100, \"chunks\": 4}",
        "{\"tool\": \"covpredict\", \"threads\": 1, \"wall_seconds\": 0.5, \"cpu_seconds\": 1, "
        "\"peak_rss_bytes\": 9000000, \"bases\": 25, \"chunks\": 2}",
    };
    struct cov_stats s;
    cov_stats_init(&s, "h5chunk", "1.2.3");
    s.wall_seconds = 1;
    for (size_t i = 0; i < COV_COUNT(shards); i++) {
        put_text("shard.json", shards[i]);
        assert_ok(cov_stats_add_shard(&s, "shard.json", &e));
    }
    assert_ok(cov_stats_write(&s, "merged.json", false, &e));
    const char *text = read_json("merged.json");
    assert_contains(text, "'wall_seconds': 1, "); /* of the merge */
    assert_contains(text, "'shards': {'n': 2, 'threads': 2, 'wall_seconds': 2.5, "
                          "'cpu_seconds': 4, 'peak_rss_bytes': 9000000, 'bases': 125, "
                          "'chunks': 6, 'bases_per_second': 50}");
    cov_stats_fini(&s);
}

TEST(rejects_statistics_of_other_tools)
{
    static const char *const texts[] = {
        "",
        "[1]",
        "{\"tool\": 3}",
        "{\"tool\": \"fasta2h5\", \"bases\": 1}",
        "{\"tool\": \"covpredict\", \"bases\": 1}",
        "{\"tool\": \"covpredict\", \"threads\": 2, \"wall_seconds\": 2, \"cpu_seconds\": 3, "
        "\"peak_rss_bytes\": 7000000, \"bases\": 1e300, \"chunks\": 4}",
        "{\"tool\": \"covpredict\", \"threads\": 2, \"wall_seconds\": -2, \"cpu_seconds\": 3, "
        "\"peak_rss_bytes\": 7000000, \"bases\": 1, \"chunks\": 4}",
    };
    struct cov_stats s;
    cov_stats_init(&s, "h5chunk", "1.2.3");
    for (size_t i = 0; i < COV_COUNT(texts); i++) {
        put_text("x.json", texts[i]);
        assert_fails(cov_stats_add_shard(&s, "x.json", &e), COV_EINPUT, "x.json: ");
    }
    assert_int_equal(cov_stats_add_shard(&s, "absent", NULL), COV_EIO);
    assert_int_equal(cov_stats_add_shard(&s, ".", NULL), COV_EINPUT);
    assert_int_equal(s.shards.n, 0);
    cov_stats_fini(&s);
}

TEST_GROUP(enter_dir, leave_dir)
