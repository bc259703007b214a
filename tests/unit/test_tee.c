/* test_tee.c - both sinks get the whole track.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <string.h>

#include "common/track/bins.h"

static const int64_t lengths[] = {10, 20};
static const char *const names[] = {"a", "b"};
static const struct cov_track_contigs contigs = {2, names, lengths};

static void writes_to_both(void **state)
{
    (void)state;
    for (int listed = 0; listed < 2; listed++) {
        struct cov_range ranges[2];
        struct cov_track_sink *to[2], *tee;
        const struct cov_track_contigs *list = listed ? &contigs : NULL;
        assert_int_equal(cov_range_parse("a", &ranges[0], NULL), COV_OK);
        assert_int_equal(cov_range_parse("b:3-4", &ranges[1], NULL), COV_OK);
        for (int i = 0; i < 2; i++)
            assert_int_equal(cov_bins_new(&ranges[i], 100, "x", list, &to[i], NULL), COV_OK);
        assert_int_equal(cov_tee_new(to[0], to[1], list, &tee, NULL), COV_OK);
        for (size_t c = 0; c < 2; c++) {
            const struct cov_interval iv = {2, 7, (float)(5 + c)};
            assert_int_equal(listed ? cov_track_begin(tee, c, NULL)
                                    : cov_track_begin_named(tee, names[c], NULL),
                             COV_OK);
            assert_int_equal(cov_track_add(tee, &iv, 1, NULL), COV_OK);
            if (!listed)
                assert_int_equal(cov_track_end_contig(tee, lengths[c], NULL), COV_OK);
        }
        assert_int_equal(cov_track_close(tee, NULL), COV_OK);
        for (int i = 0; i < 2; i++) {
            struct cov_bins b;
            struct cov_bins_extent extent;
            assert_int_equal(cov_bins_extent(to[i], true, &extent, NULL), COV_OK);
            cov_bins_get(to[i], &extent, cov_bins_unit(to[i]), &b);
            assert_int_equal(b.end, i ? 4 : 10);
            assert_true(b.means[2 * !i] == 5 + i);
            assert_int_equal(to[i]->summary.n_bases, 10);
            assert_int_equal(cov_track_n_contigs(to[i]), 2);
            assert_int_equal(cov_track_contig_length(to[i], 1), 20);
        }
        cov_track_free(tee);
        cov_track_free(to[0]);
        cov_track_free(to[1]);
    }
}

/* The tee fails if one of the sinks fails. */
static void fails_with_either(void **state)
{
    (void)state;
    struct cov_range range;
    struct cov_track_sink *to[2], *tee;
    assert_int_equal(cov_range_parse("a", &range, NULL), COV_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cov_bins_new(&range, 100, "x", NULL, &to[i], NULL), COV_OK);
    to[1]->longest = 9;
    assert_int_equal(cov_tee_new(to[0], to[1], NULL, &tee, NULL), COV_OK);
    assert_int_equal(cov_track_begin_named(tee, "a", NULL), COV_OK);
    assert_int_equal(cov_track_end_contig(tee, 10, NULL), COV_OK);
    assert_int_equal(cov_track_close(tee, NULL), COV_EINPUT);
    cov_track_free(tee);
    cov_track_free(to[0]);
    cov_track_free(to[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_to_both),
        cmocka_unit_test(fails_with_either),
    };
    return cmocka_run_group_tests_name("tee", tests, NULL, NULL);
}
