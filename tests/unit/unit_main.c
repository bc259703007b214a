/* unit_main.c - runs the tests of a file, in the order of its lines. See tests/lib/unit.h.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdatomic.h>

enum { MAX_TESTS = 64, MAX_OWNED = 4096 };

static struct CMUnitTest tests[MAX_TESTS];
static int lines[MAX_TESTS];
static size_t n_tests;
static CMFixtureFunction group_setup, group_teardown;

/* Constructors call this in any order. */
void unit_add(int line, const struct CMUnitTest *test)
{
    if (n_tests == MAX_TESTS)
        abort();
    size_t at = n_tests++;
    for (; at > 0 && lines[at - 1] > line; at--) {
        tests[at] = tests[at - 1];
        lines[at] = lines[at - 1];
    }
    tests[at] = *test;
    lines[at] = line;
}

void unit_group(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    group_setup = setup;
    group_teardown = teardown;
}

static void *owned[MAX_OWNED];
static atomic_size_t n_owned;

void *unit_own(void *p)
{
    const size_t at = n_owned++;
    if (!p || at >= MAX_OWNED) {
        (void)fputs("unit_own: out of memory, or of places for it\n", stderr);
        abort();
    }
    return owned[at] = p;
}

void *unit_alloc(size_t n)
{
    return unit_own(malloc(n ? n : 1));
}

void *unit_zeros(size_t n)
{
    return unit_own(calloc(n ? n : 1, 1));
}

size_t unit_mark(void)
{
    return n_owned;
}

void unit_free_since(size_t mark)
{
    while (n_owned > mark)
        free(owned[--n_owned]);
}

void unit_free(void)
{
    unit_free_since(0);
}

int unit_end(CMFixtureFunction teardown, void **state)
{
    const int rc = teardown ? teardown(state) : 0;
    unit_free();
    return rc;
}

/* A file may have its own instead. */
__attribute__((weak)) int main(void)
{
    return n_tests ? _cmocka_run_group_tests("tests", tests, n_tests, group_setup, group_teardown)
                   : 99;
}
