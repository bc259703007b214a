/* unit.h - included first by each unit test: cmocka, common headers of the C library, definitions of tests, and checks of
 * results.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"

/* TEST(name) { ... } defines a test, which unit_main.c runs. TEST_GROUP names what runs before the first and after the
 * last one, or NULL. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, setup, teardown)                                                           \
    static void name(void **state);                                                                \
    static int end_##name(void **state)                                                            \
    {                                                                                              \
        return unit_end(teardown, state);                                                          \
    }                                                                                              \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        unit_add(__LINE__, &(struct CMUnitTest){#name, name, setup, end_##name, NULL});            \
    }                                                                                              \
    static void name(void **state)
#define TEST_GROUP(setup, teardown)                                                                \
    __attribute__((constructor)) static void add_group(void)                                       \
    {                                                                                              \
        unit_group(setup, teardown);                                                               \
    }
void unit_add(int line, const struct CMUnitTest *test);
int unit_end(CMFixtureFunction teardown, void **state);
void unit_group(CMFixtureFunction setup, CMFixtureFunction teardown);

/* Memory of a test, which is freed after it. unit_alloc returns n bytes, of any value, unit_zeros n zeros.
 * unit_own takes p, which is from malloc and not NULL, and returns it. Any thread may call them. */
void *unit_alloc(size_t n);
void *unit_zeros(size_t n);
void *unit_own(void *p);
/* Frees this memory before the end, in a loop: all of it, or what was made after unit_mark returned `mark`. */
void unit_free(void);
size_t unit_mark(void);
void unit_free_since(size_t mark);

/* 1 under sanitizers and in emulators: tests then repeat the same code less often. */
#if defined __SANITIZE_ADDRESS__ || defined COV_TEST_SLOW
enum { TESTS_ARE_SLOW = 1 };
#else
enum { TESTS_ARE_SLOW = 0 };
#endif

/* Returns p, which must not be NULL: memory, an open file. */
#define must(p) must_at((p), #p, __FILE__, __LINE__)
static inline void *must_at(void *p, const char *text, const char *file, int line)
{
    _assert_true(p != NULL, text, file, line);
    return p;
}

/* A stream to memory, one at a time; end_text closes it and returns its text, in memory of the test. */
static struct {
    char *text;
    size_t n;
} unit_stream;
static inline FILE *begin_text(void)
{
    return must(open_memstream(&unit_stream.text, &unit_stream.n));
}
static inline char *end_text(FILE *f)
{
    assert_int_equal(fclose(f), 0);
    return unit_own(unit_stream.text);
}

/* `call` uses &e, which this declares, and must return COV_OK; otherwise the error is shown. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        struct cov_err e = COV_ERR_INIT;                                                           \
        int rc_ = (call);                                                                          \
        if (rc_)                                                                                   \
            fail_msg("%s: %d: %s", #call, rc_, e.text);                                            \
    } while (0)

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

static inline void check_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.17g instead of %.17g", got, want);
}

/* Checks that *e holds a failure with this code, whose text contains `part`; clears it for the next check. */
static inline void check_error(struct cov_err *e, int code, const char *part)
{
    assert_int_equal(e->code, code);
    assert_contains(e->text, part);
    cov_err_clear(e);
}

/* `call` uses &e, which this declares, and must fail with this code and a text that contains
 * `part`. */
#define assert_fails(call, code, part)                                                             \
    do {                                                                                           \
        struct cov_err e = COV_ERR_INIT;                                                           \
        assert_int_equal((call), (code));                                                          \
        check_error(&e, (code), (part));                                                           \
    } while (0)

/* The same, with a text that starts with a place, such as the name of a file. */
#define assert_fails_in(call, code, place, part)                                                   \
    do {                                                                                           \
        struct cov_err e = COV_ERR_INIT;                                                           \
        assert_int_equal((call), (code));                                                          \
        assert_int_equal(strncmp(e.text, (place), strlen(place)), 0);                              \
        check_error(&e, (code), (part));                                                           \
    } while (0)

/* The same, with the whole text. */
#define assert_fails_with(call, code, whole)                                                       \
    do {                                                                                           \
        struct cov_err e = COV_ERR_INIT;                                                           \
        assert_int_equal((call), (code));                                                          \
        assert_string_equal(e.text, (whole));                                                      \
    } while (0)

#endif
