/* test_listing.c - the first of many names.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <string.h>

#include "common/base/listing.h"

static void shows_five(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "bc", "d", "e", "f", "g", "h"};
    struct cov_listing l = {0};
    assert_string_equal(l.text, "");
    assert_string_equal(cov_listing_more(&l), "");
    for (int i = 0; i < 7; i++) {
        cov_listing_add(&l, names[i]);
        assert_string_equal(cov_listing_more(&l), i < 5 ? "" : ", ...");
    }
    assert_string_equal(l.text, "a, bc, d, e, f");
    assert_int_equal(l.n, 7);
}

static void keeps_to_its_room(void **state)
{
    (void)state;
    struct cov_listing l = {0};
    char name[301] = "";
    memset(name, 'x', 300);
    cov_listing_add(&l, name);
    cov_listing_add(&l, name);
    cov_listing_add(&l, "short"); /* would look as if it were the second */
    assert_string_equal(l.text, name);
    assert_int_equal(l.n, 3);
    assert_string_equal(cov_listing_more(&l), ", ...");

    char longer[1000] = "";
    memset(longer, 'y', sizeof longer - 1);
    struct cov_listing cut = {0};
    cov_listing_add(&cut, longer);
    assert_int_equal(strlen(cut.text), sizeof cut.text - 1);
    assert_string_equal(cov_listing_more(&cut), "");
    cov_listing_add(&cut, "z");
    assert_int_equal(strlen(cut.text), sizeof cut.text - 1);
    assert_string_equal(cov_listing_more(&cut), ", ...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_five),
        cmocka_unit_test(keeps_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
