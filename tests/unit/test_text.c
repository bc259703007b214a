/* test_text.c - text in files and command lines, and lists of names.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "common/base/text.h"

TEST(reads_positions)
{
    static const struct {
        const char *text;
        int64_t wanted; /* -1 if the text is invalid */
    } cases[] = {
        {"0", 0},
        {"007", 7},
        {"999999999999999999", 999999999999999999},
        {"1000000000000000000", -1},
        {"", -1},
        {"-1", -1},
        {"+1", -1},
        {"1 ", -1},
        {"1,000", -1},
        {"1e3", -1},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        int64_t x = -1;
        bool is_one = cov_text_position(cases[i].text, strlen(cases[i].text), &x);
        assert_int_equal(is_one, cases[i].wanted >= 0);
        assert_int_equal(x, cases[i].wanted);
    }
    int64_t x;
    assert_true(cov_text_position("123", 2, &x));
    assert_int_equal(x, 12);
}

TEST(lists_five_names)
{
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

TEST(cuts_long_lists)
{
    struct cov_listing l = {0};
    char name[301] = "";
    memset(name, 'x', 300);
    cov_listing_add(&l, name);
    cov_listing_add(&l, name);
    cov_listing_add(&l, "short"); /* must not follow the first name, as if it were the second */
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

TEST(compares_missing_texts)
{
    const char a[] = "a";
    assert_true(cov_text_same(a, "a"));
    assert_true(cov_text_same(NULL, NULL));
    assert_false(cov_text_same("a", "b"));
    assert_false(cov_text_same("a", NULL));
    assert_false(cov_text_same(NULL, "a"));
}
