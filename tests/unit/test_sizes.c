/* test_sizes.c - files of names and lengths.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/seq/sizes.h"

static char path[] = "/tmp/test_sizes.XXXXXX";

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

static void put(const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void reads(void **state)
{
    (void)state;
    struct cov_sizes *s;
    size_t i;
    put("chr2\t1000\r\n\n#x\n  chr1 999999999999999999 60 61\nx 1");
    assert_int_equal(cov_sizes_read(path, &s, NULL), 0);
    assert_int_equal(cov_sizes_count(s), 3);
    assert_string_equal(cov_sizes_name(s, 0), "chr2");
    assert_int_equal(cov_sizes_length(s, 0), 1000);
    assert_true(cov_sizes_find(s, "chr1", &i));
    assert_int_equal(i, 1);
    assert_int_equal(cov_sizes_length(s, i), 999999999999999999);
    assert_false(cov_sizes_find(s, "chr", &i));
    cov_sizes_free(s);
    put("");
    assert_int_equal(cov_sizes_read(path, &s, NULL), 0);
    assert_int_equal(cov_sizes_count(s), 0);
    cov_sizes_free(s);
    cov_sizes_free(NULL);
}

static void refuses(void **state)
{
    (void)state;
    static const char *const texts[] = {"a 1\nb\n",     "a 1\nb 0\n",
                                        "a 1\nb -1\n",  "a 1\nb x\n",
                                        "a 1\nb 1.5\n", "a 1\nb 1000000000000000000\n"};
    for (size_t i = 0; i < COV_COUNT(texts); i++) {
        struct cov_sizes *s;
        struct cov_err e = COV_ERR_INIT;
        put(texts[i]);
        assert_int_equal(cov_sizes_read(path, &s, &e), COV_EINPUT);
        assert_null(s);
        assert_non_null(strstr(e.text, ":2: a name and a length above 0 are wanted"));
    }
    struct cov_sizes *s;
    struct cov_err e = COV_ERR_INIT;
    put("a 1\nb 2\na 1\n");
    assert_int_equal(cov_sizes_read(path, &s, &e), COV_EINPUT);
    assert_non_null(strstr(e.text, ":3: a is there twice"));
    cov_err_clear(&e);
    assert_int_equal(cov_sizes_read("/nonexistent/x", &s, &e), COV_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("sizes", tests, set_up, tear_down);
}
