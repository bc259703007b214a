/* test_child.c - child processes are run and measured.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "tools/benchmark/child.h"

static struct child shell(const char *script)
{
    return (struct child){.command = unit_own(child_command(NULL, "/bin/sh -c %s", script))};
}

TEST(measures_cost)
{
    struct child children[2] = {shell("sleep 0.05"),
                                shell("i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done")};
    double wall;
    assert_int_equal(children_run(children, 2, "/tmp", &wall, NULL), 0);
    assert_true(children[0].cost.wall >= 0.05 && children[0].cost.cpu < children[0].cost.wall);
    assert_true(children[1].cost.cpu > 0 && children[1].cost.max_rss > 0);
    assert_true(wall >= children[0].cost.wall && wall >= children[1].cost.wall);
    /* Counters need a machine that allows them. */
    for (int i = 0; i < CHILD_COUNTERS; i++)
        assert_true(children[1].cost.counters[i] >= -1);
}

/* Values keep their blanks, and empty ones are words. */
TEST(separates_words)
{
    assert_fails_with(child_run("/tmp", &e, "sh -c %s a/%u %s %s last",
                                "echo $#:$0:$1:$2:$3 >&2; exit 1", 7U, "two  words", ""),
                      COV_EIO, "sh failed with status 1: 3:a/7:two words::last");
}

TEST(reports_failures)
{
    static const struct {
        const char *command, *text;
    } cases[] = {
        {"exit 3", "/bin/sh failed with status 3"},
        {"echo first >&2; echo last >&2; exit 1", "/bin/sh failed with status 1: last"},
        {"kill -TERM $$", "/bin/sh was killed by signal 15 (Terminated)"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct child children[2] = {shell(cases[i].command),
                                    shell("exec sleep 60")}; /* killed when the other fails */
        assert_fails_with(children_run(children, 2, "/tmp", NULL, &e), COV_EIO, cases[i].text);
    }
    assert_fails_with(child_run("/tmp", &e, "no-such-program"), COV_EIO,
                      "no-such-program cannot be run");
}

/* Programs are searched in the directory of this program first. */
TEST(prefers_own_directory)
{
    assert_fails_with(child_run("/tmp", &e, "test_child no-such-argument"), COV_EIO,
                      "test_child cannot be run");
    assert_ok(child_prefer_own(&e));
    assert_ok(child_run("/tmp", &e, "test_child --nothing"));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return strcmp(argv[1], "--nothing") != 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_cost),
        cmocka_unit_test(separates_words),
        cmocka_unit_test(reports_failures),
        cmocka_unit_test(prefers_own_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
