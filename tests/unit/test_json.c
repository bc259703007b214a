/* test_json.c - writing JSON.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/json.h"

struct writer {
    char *text;
    size_t n;
    FILE *f;
    struct cov_json j;
};

static void begin(struct writer *w)
{
    *w = (struct writer){NULL, 0, NULL, {.f = NULL}};
    w->f = open_memstream(&w->text, &w->n);
    assert_non_null(w->f);
    cov_json_init(&w->j, w->f);
}

static void expect(struct writer *w, const char *text)
{
    assert_int_equal(fclose(w->f), 0);
    assert_string_equal(w->text, text);
    free(w->text);
}

static void nests(void **state)
{
    (void)state;
    struct writer w;
    begin(&w);
    cov_json_begin_object(&w.j, NULL);
    cov_json_string(&w.j, "name", "x");
    cov_json_begin_array(&w.j, "list");
    cov_json_int(&w.j, NULL, INT64_MIN);
    cov_json_bool(&w.j, NULL, true);
    cov_json_begin_object(&w.j, NULL);
    cov_json_bool(&w.j, "no", false);
    cov_json_end_object(&w.j);
    cov_json_end_array(&w.j);
    cov_json_begin_object(&w.j, "empty");
    cov_json_end_object(&w.j);
    cov_json_begin_array(&w.j, "none");
    cov_json_end_array(&w.j);
    cov_json_string(&w.j, "null", NULL);
    cov_json_end_object(&w.j);
    expect(&w, "{\n"
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

/* The text of one string value. */
static void string_is(const char *value, const char *text)
{
    struct writer w;
    begin(&w);
    cov_json_string(&w.j, NULL, value);
    expect(&w, text);
}

static void escapes(void **state)
{
    (void)state;
    string_is("", "\"\"");
    string_is("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    string_is("\n\t\x01\x7f", "\"\\u000a\\u0009\\u0001\\u007f\"");
    string_is("\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\xb1", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\xb1\"");
}

static void replaces_what_is_no_utf8(void **state)
{
    (void)state;
    string_is("a\xff"
              "b",
              "\"a\\ufffdb\"");
    string_is("\xc3", "\"\\ufffd\"");                                  /* cut short */
    string_is("\xe2\x82", "\"\\ufffd\\ufffd\"");                       /* cut short */
    string_is("\xc0\x80", "\"\\ufffd\\ufffd\"");                       /* overlong */
    string_is("\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* overlong */
    string_is("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* a surrogate */
    string_is("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* beyond U+10FFFF */
    string_is("\xc3\xc3\xa4", "\"\\ufffd\xc3\xa4\"");
}

static void number_is(double value, const char *text)
{
    struct writer w;
    begin(&w);
    cov_json_double(&w.j, NULL, value);
    expect(&w, text);
}

static void numbers(void **state)
{
    (void)state;
    number_is(0, "0");
    number_is(0.1, "0.1");
    number_is(-1.5e300, "-1.5e+300");
    number_is(1.0 / 3, "0.3333333333333333");
    number_is(0.1 + 0.2, "0.30000000000000004");
    number_is(NAN, "null");
    number_is(-INFINITY, "null");
    number_is(DBL_MAX, "1.7976931348623157e+308");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nests),
        cmocka_unit_test(escapes),
        cmocka_unit_test(replaces_what_is_no_utf8),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
