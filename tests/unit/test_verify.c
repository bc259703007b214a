/* test_verify.c - whether files of chunks are sound.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/job/chunks/verify.h"
#include "tests/lib/make_chunks.h"

static char dir[] = "/tmp/cov-test-XXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    return unlink("x.h5") || chdir("/") || rmdir(dir);
}

static void expect(bool bases, void (*spoil)(size_t, uint8_t *const[2]), size_t n_wanted,
                   const char *wanted)
{
    make_chunks("x.h5", bases, spoil);
    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        struct cov_pool *pool;
        struct cov_stats stats;
        char *text = NULL;
        size_t n_text = 0, n = 99;
        FILE *f = open_memstream(&text, &n_text);
        assert_non_null(f);
        cov_stats_init(&stats, "test", "0");
        assert_int_equal(cov_pool_new(n_threads, &pool, NULL), COV_OK);
        assert_int_equal(cov_verify("x.h5", pool, f, NULL, &stats, &n, NULL), COV_OK);
        assert_int_equal(fclose(f), 0);
        assert_string_equal(text, wanted);
        assert_int_equal(n, n_wanted);
        assert_int_equal(stats.chunks, MADE_ROWS);
        assert_int_equal(stats.bases, 35);
        cov_pool_free(pool);
        cov_stats_fini(&stats);
        free(text);
    }
}

static void is_silent_about_sound_files(void **state)
{
    (void)state;
    expect(true, NULL, 0, "");
    expect(false, NULL, 0, "");
}

static void change_base(size_t row, uint8_t *const codes_elems[2])
{
    uint8_t *codes = codes_elems[0];
    if (row == 4)
        codes[2] = codes[2] == COV_CODE_A ? COV_CODE_C : COV_CODE_A;
}

static void compares_strands(void **state)
{
    (void)state;
    /* Row 1 is [10, 20) of the + strand, 1 << (10 + t * t) % 4: the base at index 7 is 1 << 59 % 4.
     */
    expect(true, change_base, 1,
           "x.h5: data/X: row 4 (chr1:11-20, - strand): C at index 2, where the + strand (row 1) "
           "says A\n");
}

static void change_values(size_t row, uint8_t *const codes_elems[2])
{
    uint8_t *elems = codes_elems[1];
    if (row == 2)
        elems[4 * 5] = elems[4 * 5 + 1] = 0; /* behind the end */
    if (row == 7)
        elems[4 * 9 + 3] = 0x80;
}

static void looks_at_values(void **state)
{
    (void)state;
    expect(
        false, change_values, 2,
        "x.h5: prediction/predictions: row 2 (chr1:21-25, + strand): 0 instead of -1 at index 5, "
        "column 0, behind the end\n"
        "x.h5: prediction/predictions: row 7 (chr2:1-10, - strand): -32761 at index 9, column 1\n");
}

static void fails_where_nothing_can_be_opened(void **state)
{
    (void)state;
    struct cov_pool *pool;
    size_t n = 99;
    assert_int_equal(cov_pool_new(1, &pool, NULL), COV_OK);
    assert_int_not_equal(cov_verify("none.h5", pool, NULL, NULL, NULL, &n, NULL), COV_OK);
    assert_int_equal(n, 0);
    cov_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_silent_about_sound_files),
        cmocka_unit_test(compares_strands),
        cmocka_unit_test(looks_at_values),
        cmocka_unit_test(fails_where_nothing_can_be_opened),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
