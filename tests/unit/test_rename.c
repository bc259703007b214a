/* test_rename.c - files of two columns of names.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/seq/rename.h"

static char path[] = "/tmp/test_rename.XXXXXX";

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static void put(const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void test_names(void **state)
{
    (void)state;
    static const char text[] = "1\tchr1\r\n\n  2 chr2  \n#x y z\nMT\tchrM # mitochondrion";
    struct cov_rename *r;
    put(text, sizeof text - 1);
    assert_int_equal(cov_rename_read(path, &r, NULL), 0);
    assert_int_equal(cov_rename_count(r), 3);
    assert_int_equal(cov_rename_unused(r), 3);
    assert_string_equal(cov_rename_apply(r, "1", 1), "chr1");
    assert_string_equal(cov_rename_apply(r, "2xx", 1), "chr2");
    assert_string_equal(cov_rename_apply(r, "MT", 2), "chrM");
    assert_string_equal(cov_rename_apply(r, "1", 1), "chr1");
    const char *name = "chr1";
    assert_ptr_equal(cov_rename_apply(r, name, 4), name);
    assert_int_equal(cov_rename_unused(r), 0);
    cov_rename_free(r);
    put("", 0);
    assert_int_equal(cov_rename_read(path, &r, NULL), 0);
    assert_int_equal(cov_rename_count(r), 0);
    cov_rename_free(r);
    cov_rename_free(NULL);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        const char *error;
    } cases[] = {
        {"a b\nc\n", 6, "2: not two columns"},
        {"a b c\n", 6, "1: not two columns"},
        {"a\0 b\n", 5, "1: a zero byte: this is not text"},
        {"a b\0\n", 5, "1: a zero byte: this is not text"},
        {"a b\n\nc d\na e\n", 13, "4: 'a' is given twice"},
    };
    struct cov_rename *r;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cov_err e = COV_ERR_INIT;
        put(cases[i].text, cases[i].n);
        assert_int_equal(cov_rename_read(path, &r, &e), COV_EINPUT);
        assert_null(r);
        assert_memory_equal(e.text, path, strlen(path));
        assert_string_equal(e.text + strlen(path) + 1, cases[i].error);
    }
    char text[5000];
    memset(text, 'x', sizeof text);
    text[1] = '\t';
    struct cov_err e = COV_ERR_INIT;
    put(text, sizeof text);
    assert_int_equal(cov_rename_read(path, &r, &e), COV_EINPUT);
    assert_string_equal(e.text + strlen(path) + 1, "1: a name of more than 4095 bytes");
    cov_err_clear(&e);
    assert_int_equal(cov_rename_read("/nonexistent", &r, &e), COV_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
