/* test_set_blacklist.c - data/blacklist of genome files.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/job/chunks/set_blacklist.h"
#include "common/store/chunk_table.h"
#include "tests/lib/make_chunks.h"

static char dir[] = "/tmp/cov-test-XXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    return unlink("g.h5") || unlink("names") || chdir("/") || rmdir(dir);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int set(const struct cov_set_blacklist_options *o)
{
    struct cov_stats stats;
    cov_stats_init(&stats, "test", "0");
    int rc = cov_set_blacklist("g.h5", o, NULL, &stats, NULL);
    cov_stats_fini(&stats);
    return rc;
}

static void holds(const char *path, const bool keep[MADE_ROWS])
{
    struct cov_h5 *f;
    bool same = false, flipped[MADE_ROWS];
    memcpy(flipped, keep, sizeof flipped);
    flipped[MADE_ROWS - 1] = !keep[MADE_ROWS - 1];
    assert_int_equal(cov_h5_open(path, &f, NULL), COV_OK);
    assert_int_equal(cov_blacklist_rows_compare(f, keep, MADE_ROWS, &same, NULL), COV_OK);
    assert_true(same);
    assert_int_equal(cov_blacklist_rows_compare(f, flipped, MADE_ROWS, &same, NULL), COV_OK);
    assert_false(same);
    assert_int_equal(cov_blacklist_rows_compare(f, keep, MADE_ROWS - 1, &same, NULL), COV_EINPUT);
    assert_false(same);
    cov_h5_close(f);
}

static const bool without_chr1[MADE_ROWS] = {0, 0, 0, 0, 0, 0, 1, 1};
static const bool without_chr2[MADE_ROWS] = {1, 1, 1, 1, 1, 1, 0, 0};

static void changes_the_file(void **state)
{
    (void)state;
    struct cov_set_blacklist_options o = {.names = "names"};
    make_chunks("g.h5", true, NULL);
    put("names", "chr2\n");
    assert_int_equal(set(&o), COV_OK);
    holds("g.h5", without_chr2);
    put("names", "chr1\n");
    assert_int_equal(set(&o), COV_EEXIST);
    holds("g.h5", without_chr2);
    o.force = true;
    assert_int_equal(set(&o), COV_OK);
    holds("g.h5", without_chr1);
}

static void writes_another(void **state)
{
    (void)state;
    struct cov_set_blacklist_options o = {.names = "names", .output = "new.h5", .list = "list"};
    make_chunks("g.h5", true, NULL);
    put("names", "chr1\nchr3\n");
    assert_int_equal(set(&o), COV_OK);
    holds("new.h5", without_chr1);
    struct cov_h5 *f;
    assert_int_equal(cov_h5_open("g.h5", &f, NULL), COV_OK);
    assert_false(cov_h5_has(f, "data/blacklist"));
    cov_h5_close(f);
    char text[16] = "";
    FILE *list = fopen("list", "r");
    assert_non_null(list);
    assert_int_equal(fread(text, 1, sizeof text - 1, list), 5);
    assert_string_equal(text, "chr1\n");
    (void)fclose(list);
    assert_int_equal(set(&o), COV_EEXIST);
    assert_int_equal(unlink("list"), 0);
    assert_int_equal(set(&o), COV_EEXIST);
    assert_int_equal(access("list", F_OK), -1);
    assert_int_equal(unlink("new.h5"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_the_file),
        cmocka_unit_test(writes_another),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
