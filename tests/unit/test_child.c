/* test_child.c - child processes are run and measured.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "tools/benchmark/child.h"

static struct child shell(const char *const arguments[4])
{
    return (struct child){.arguments = arguments};
}

TEST(measures_cost)
{
    const char *const sleeps[] = {"/bin/sh", "-c", "sleep 0.05", NULL};
    const char *const works[] = {"/bin/sh", "-c",
                                 "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done", NULL};
    struct child children[2] = {shell(sleeps), shell(works)};
    double wall;
    children[1].sample = children[1].count = true;
    assert_int_equal(children_run(children, 2, "/tmp", &wall, NULL), 0);
    assert_true(children[0].cost.wall >= 0.05 && children[0].cost.cpu < children[0].cost.wall);
    assert_true(children[1].cost.cpu > 0 && children[1].cost.max_rss > 0);
    assert_true(wall >= children[0].cost.wall && wall >= children[1].cost.wall);
    /* Counters need `count`, and a machine that allows them. */
    for (int i = 0; i < CHILD_COUNTERS; i++)
        assert_true(children[0].cost.counters[i] == -1 && children[1].cost.counters[i] >= -1);
}

TEST(keeps_output)
{
    const char *const says[] = {"/bin/sh", "-c", "echo word; cat",
                                NULL}; /* standard input is empty */
    char path[] = "/tmp/test_child_XXXXXX", text[16] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct child c = shell(says);
    c.output = path;
    assert_int_equal(children_run(&c, 1, "/tmp", NULL, NULL), 0);
    FILE *f = fdopen(fd, "r");
    assert_non_null(fgets(text, sizeof text, f));
    assert_string_equal(text, "word\n");
    (void)fclose(f);
    (void)remove(path);
}

TEST(reports_failures)
{
    static const struct {
        const char *command, *text;
    } cases[] = {
        {"exit 3", "/bin/sh failed with status 3"},
        {"echo first >&2; echo last >&2; exit 1", "/bin/sh failed with status 1: last"},
        {"echo 'x: error: why' >&2; echo '---' >&2; exit 1",
         "/bin/sh failed with status 1: x: error: why"},
        {"kill -TERM $$", "/bin/sh was killed by signal 15 (Terminated)"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const char *const arguments[] = {"/bin/sh", "-c", cases[i].command, NULL};
        const char *const waits[] = {"/bin/sh", "-c", "exec sleep 60",
                                     NULL}; /* killed when the other process fails */
        struct child children[2] = {shell(arguments), shell(waits)};
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(children_run(children, 2, "/tmp", NULL, &e), COV_EIO);
        assert_string_equal(e.text, cases[i].text);
    }
    const char *const missing[] = {"/no/such/program", NULL};
    struct child c = {.arguments = missing};
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(children_run(&c, 1, "/tmp", NULL, &e), COV_EIO);
    assert_string_equal(e.text, "/no/such/program cannot be run");
}

TEST(finds_programs)
{
    char *path;
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(child_find("sh", &path, NULL), 0);
    assert_string_equal(strrchr(path, '/'), "/sh");
    free(path);
    assert_int_equal(child_find("no-such-program", &path, &e), COV_EUNSUPPORTED);
    assert_null(path);
}
