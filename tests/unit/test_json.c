/* test_json.c - writing and reading JSON.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <float.h>

#include "common/base/json.h"

static struct cov_json begin(void)
{
    struct cov_json j;
    cov_json_init(&j, begin_text());
    return j;
}

static void expect(struct cov_json *j, const char *text)
{
    assert_string_equal(end_text(j->f), text);
}

TEST(nests)
{
    struct cov_json j = begin();
    cov_json_begin_object(&j, NULL);
    cov_json_string(&j, "name", "x");
    cov_json_begin_array(&j, "list");
    cov_json_int(&j, NULL, INT64_MIN);
    cov_json_bool(&j, NULL, true);
    cov_json_begin_object(&j, NULL);
    cov_json_bool(&j, "no", false);
    cov_json_end_object(&j);
    cov_json_end_array(&j);
    cov_json_begin_object(&j, "empty");
    cov_json_end_object(&j);
    cov_json_begin_array(&j, "none");
    cov_json_end_array(&j);
    cov_json_string(&j, "null", NULL);
    cov_json_end_object(&j);
    expect(&j, "{\n"
               "  \"name\": \"x\",\n"
               "  \"list\": [\n"
               "    -9223372036854775808,\n"
               "    true,\n"
               "    {\n"
               "      \"no\": false\n"
               "    }\n"
               "  ],\n"
               "  \"empty\": {},\n"
               "  \"none\": [],\n"
               "  \"null\": null\n"
               "}\n");
}

/* Checks the text of a string value. */
static void string_is(const char *value, const char *text)
{
    struct cov_json j = begin();
    cov_json_string(&j, NULL, value);
    expect(&j, text);
}

TEST(escapes)
{
    string_is("", "\"\"");
    string_is("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    string_is("\n\t\x01\x7f", "\"\\u000a\\u0009\\u0001\\u007f\"");
    string_is("\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\xb1", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\xb1\"");
}

TEST(escapes_for_ascii)
{
    struct cov_json j = begin();
    j.is_ascii = true;
    cov_json_string(&j, NULL, "caf\u00e9 \u20ac\U0001f331 \xff\"");
    expect(&j, "\"caf\\u00e9 \\u20ac\\ud83c\\udf31 \\ufffd\\\"\"");
}

TEST(writes_a_line_for_each_value)
{
    struct cov_json j = begin();
    j.lines = "> ";
    cov_json_begin_object(&j, NULL);
    cov_json_int(&j, "a", 1);
    cov_json_begin_array(&j, "b");
    cov_json_bool(&j, NULL, true);
    cov_json_begin_object(&j, NULL);
    cov_json_string(&j, "c", "x");
    cov_json_end_object(&j);
    cov_json_end_array(&j);
    cov_json_double(&j, "d", NAN);
    cov_json_end_object(&j);
    expect(&j, "> a: 1\n> b[1]: true\n> b[2].c: \"x\"\n> d: null\n");
}

TEST(replaces_invalid_utf8)
{
    string_is("a\xff"
              "b",
              "\"a\\ufffdb\"");
    string_is("\xc3", "\"\\ufffd\"");                                  /* truncated */
    string_is("\xe2\x82", "\"\\ufffd\\ufffd\"");                       /* truncated */
    string_is("\xc0\x80", "\"\\ufffd\\ufffd\"");                       /* overlong */
    string_is("\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* overlong */
    string_is("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* a surrogate */
    string_is("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* above U+10FFFF */
    string_is("\xc3\xc3\xa4", "\"\\ufffd\xc3\xa4\"");
}

static void number_is(double value, const char *text)
{
    struct cov_json j = begin();
    cov_json_double(&j, NULL, value);
    expect(&j, text);
}

TEST(writes_numbers)
{
    number_is(0, "0");
    number_is(0.1, "0.1");
    number_is(-1.5e300, "-1.5e+300");
    number_is(1.0 / 3, "0.3333333333333333");
    number_is(0.1 + 0.2, "0.30000000000000004");
    number_is(NAN, "null");
    number_is(-INFINITY, "null");
    number_is(DBL_MAX, "1.7976931348623157e+308");
}

TEST(finds_texts)
{
    static const char text[] =
        " {\"a\": \"x\", \"A\": \"y\", \"n\": 1, \"l\": [\"a\"], "
        "\"u\": \"\\u00e9\\\"\\n\", \"o\": {\"in\": \"z\"}, \"null\": null} \n";
    struct cov_json_value *v;
    assert_ok(cov_json_parse(text, strlen(text), &v, &e));
    assert_string_equal(cov_json_text(v, "a"), "x");
    assert_string_equal(cov_json_text(v, "A"), "y");
    assert_string_equal(cov_json_text(v, "u"), "\xc3\xa9\"\n");
    assert_null(cov_json_text(v, "n"));
    assert_null(cov_json_text(v, "l"));
    assert_null(cov_json_text(v, "o"));
    assert_null(cov_json_text(v, "in"));
    assert_null(cov_json_text(v, "null"));
    assert_null(cov_json_text(v, "absent"));
    cov_json_free(v);
    cov_json_free(NULL);
}

TEST(walks)
{
    static const char text[] = "{\"a\": [1, -2.5e1, \"x\"], \"o\": {\"p\": 7}, \"t\": true}";
    struct cov_json_value *v;
    double x = 0;
    assert_ok(cov_json_parse(text, strlen(text), &v, &e));
    const struct cov_json_value *a = cov_json_member(v, "a"), *i = cov_json_first(a);
    assert_true(cov_json_is_array(a) && !cov_json_is_object(a) && cov_json_is_object(v));
    assert_ptr_equal(a, cov_json_first(v));
    assert_string_equal(cov_json_key(a), "a");
    assert_null(cov_json_key(i));
    assert_true(cov_json_number(i, &x) && x == 1);
    i = cov_json_next(i);
    assert_true(cov_json_number(i, &x) && x == -25);
    i = cov_json_next(i);
    assert_false(cov_json_number(i, &x));
    assert_null(cov_json_next(i));
    assert_true(cov_json_number(cov_json_member(cov_json_member(v, "o"), "p"), &x) && x == 7);
    assert_null(cov_json_member(a, "p"));
    assert_null(cov_json_member(NULL, "p"));
    assert_null(cov_json_first(NULL));
    assert_null(cov_json_next(NULL));
    assert_null(cov_json_key(NULL));
    assert_false(cov_json_number(NULL, &x) || cov_json_is_array(NULL) || cov_json_is_object(NULL));
    assert_false(cov_json_number(cov_json_member(v, "t"), &x));
    cov_json_free(v);
}

TEST(other_values_have_no_members)
{
    static const char *const texts[] = {
        "[\"a\", {\"a\": \"b\"}]", "\"a\"", "1", "true", "null", "{}", "[]"};
    for (size_t i = 0; i < COV_COUNT(texts); i++) {
        struct cov_json_value *v;
        assert_ok(cov_json_parse(texts[i], strlen(texts[i]), &v, &e));
        assert_null(cov_json_text(v, "a"));
        cov_json_free(v);
    }
}

/* The offset in the message depends on cJSON. */
static void refuse(const char *text, size_t n, const char *says)
{
    struct cov_json_value *v;
    /* A buffer of exactly n bytes, so that a sanitizer finds reads past its end. */
    char *copy = unit_alloc(n);
    memcpy(copy, text, n);
    assert_fails_in(cov_json_parse(copy, n, &v, &e), COV_EINPUT, says, "");
    assert_null(v);
}

TEST(refuses_invalid_json)
{
    refuse("", 0, "invalid JSON at byte ");
    refuse("{\"a\": 1} x", 10, "invalid JSON at byte ");
    refuse("{\"a\": \"b", 8, "invalid JSON at byte ");
    refuse("{\"a\" \"b\"}", 9, "invalid JSON at byte ");
    refuse("{\"a\": \"b\"}\0", 11, "not a text file: it has a zero byte");
    refuse("{\"a\": \"\\ud800\"}", 15, "invalid JSON at byte ");
    /* Nested too deeply for any stack. */
    size_t n = 1 << 20;
    char *deep = unit_alloc(n);
    memset(deep, '[', n);
    refuse(deep, n, "invalid JSON at byte ");
}

/* Text that is truncated or changed anywhere is parsed or refused without a crash. */
TEST(survives_damage)
{
    static const char text[] =
        "{\"assemblyUnit\":\"non-nuclear\",\"length\":12.5e3,\"x\":[{},\"\\u0041\"]}";
    size_t n = sizeof text - 1;
    for (size_t cut = 0; cut < n; cut++)
        for (unsigned flip = 0; flip < 256; flip++) {
            char *copy = unit_alloc(n); /* without a terminating zero */
            memcpy(copy, text, n);
            copy[cut] = (char)(copy[cut] ^ flip);
            struct cov_json_value *v;
            size_t length = flip ? n : cut;
            if (cov_json_parse(copy, length, &v, NULL) == COV_OK) {
                const char *unit = cov_json_text(v, "assemblyUnit");
                assert_true(!unit || strlen(unit) <= n);
                assert_true(flip != 0);
                cov_json_free(v);
            }
            unit_free();
        }
}
