/* test_spool - bytes in an unlinked temporary file.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/spool.h"

static char dir[] = "/tmp/test_spoolXXXXXX";

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

/* How many entries the folder has besides "." and "..". */
static int count_entries(void)
{
    DIR *d = opendir(dir);
    int n = -2;
    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

static void test_append_and_read(void **state)
{
    (void)state;
    struct cov_spool s;
    uint8_t piece[1000], back[1000];
    int64_t at[50];
    assert_int_equal(cov_spool_init(&s, dir, NULL), 0);
    assert_int_equal(s.fd, -1);
    for (size_t i = 0; i < 50; i++) {
        memset(piece, (int)i, sizeof piece);
        assert_int_equal(cov_spool_append(&s, piece, 20 * i, &at[i], NULL), 0);
    }
    assert_int_equal(count_entries(), 0);
    assert_int_equal(s.n_bytes, 20 * 49 * 50 / 2);
    for (size_t i = 50; i-- > 0;) {
        memset(piece, (int)i, sizeof piece);
        assert_int_equal(cov_spool_read(&s, at[i], back, 20 * i, NULL), 0);
        assert_memory_equal(back, piece, 20 * i);
    }
    assert_int_equal(cov_spool_truncate(&s, 100, NULL), 0);
    assert_int_equal(cov_spool_append(&s, "abc", 3, &at[0], NULL), 0);
    assert_int_equal(at[0], 100);
    assert_int_equal(cov_spool_read(&s, 100, back, 3, NULL), 0);
    assert_memory_equal(back, "abc", 3);
    assert_int_equal(cov_spool_read(&s, 101, back, 3, NULL), COV_EIO);
    cov_spool_fini(&s);
    cov_spool_fini(&s);
}

static void test_failures_name_the_folder(void **state)
{
    (void)state;
    struct cov_spool s;
    struct cov_err e = COV_ERR_INIT;
    struct rlimit old, small = {100, RLIM_INFINITY};
    char zeros[200] = "";
    assert_int_equal(cov_spool_init(&s, "/nonexistent/folder", NULL), 0);
    assert_int_not_equal(cov_spool_append(&s, zeros, 1, NULL, &e), 0);
    assert_non_null(strstr(e.text, "/nonexistent/folder"));
    cov_spool_fini(&s);

    e = (struct cov_err)COV_ERR_INIT;
    assert_int_equal(cov_spool_init(&s, dir, NULL), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int rc = cov_spool_append(&s, zeros, sizeof zeros, NULL, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rc, COV_EIO);
    assert_non_null(strstr(e.text, dir));
    assert_int_equal(s.n_bytes, 0);
    cov_spool_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append_and_read),
        cmocka_unit_test(test_failures_name_the_folder),
    };
    return cmocka_run_group_tests_name("spool", tests, make_dir, remove_dir);
}
