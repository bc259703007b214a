/* test_names.c - the set of names.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "common/seq/names.h"

static void test_many(void **state)
{
    (void)state;
    struct cov_names *s;
    struct cov_err e = COV_ERR_INIT;
    char name[32];
    size_t index, n;
    bool is_new;
    enum { COUNT = 50000 };
    assert_int_equal(cov_names_new(&s, &e), 0);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < COUNT; i++) {
            int length = snprintf(name, sizeof name, "contig_%zu", i);
            assert_int_equal(cov_names_add(s, name, (size_t)length, &index, &is_new, &e), 0);
            assert_int_equal(is_new, round == 0);
            assert_int_equal(index, i);
        }
    assert_int_equal(cov_names_count(s), COUNT);
    assert_string_equal(cov_names_get(s, 1234, &n), "contig_1234");
    assert_int_equal(n, 11);
    assert_true(cov_names_find(s, "contig_49999", 12, &index));
    assert_int_equal(index, 49999);
    assert_false(cov_names_find(s, "contig_50000", 12, &index));
    cov_names_free(s);
}

static void test_any_bytes(void **state)
{
    (void)state;
    struct cov_names *s;
    struct cov_err e = COV_ERR_INIT;
    size_t index, n;
    bool is_new;
    /* Every length of zeros is a name of its own. */
    static const char zeros[40];
    assert_int_equal(cov_names_new(&s, &e), 0);
    for (size_t i = 0; i <= sizeof zeros; i++) {
        assert_int_equal(cov_names_add(s, zeros, i, &index, &is_new, &e), 0);
        assert_true(is_new);
        assert_int_equal(index, i);
    }
    for (size_t i = 0; i <= sizeof zeros; i++) {
        assert_true(cov_names_find(s, zeros, i, &index));
        assert_int_equal(index, i);
        const char *name = cov_names_get(s, i, &n);
        assert_int_equal(n, i);
        assert_int_equal(name[n], 0);
    }
    cov_names_free(s);
    cov_names_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
