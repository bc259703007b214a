/* test_feature_sums.c - sums over features that overlap, end within intervals, or are on contigs that the track lacks.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/track/measures/feature_sums.h"

TEST_GROUP(enter_dir, leave_dir)

static void check(const struct cov_feature_sum *f, int64_t n, double sum, double min, double max)
{
    assert_int_equal(f->n, n);
    assert_true(f->sum == sum && (double)f->min == min && (double)f->max == max);
}

/* Contigs come in another order than in the annotation. */
TEST(adds_up)
{
    static const struct cov_interval first[] = {{0, 10, 2}, {10, 12, -1}, {20, 30, 4}};
    static const struct cov_interval second[] = {{5, 6, 7}};
    struct cov_annotation a;
    struct cov_feature_sums s;
    put_text("x", "b\t5\t6\nb\t6\t9\nnone\t0\t100\na\t0\t100\na\t9\t10\na\t9\t21\na\t12\t20\na\t29"
                  "\t31\na\t30\t40\n");
    assert_ok(cov_annotation_read("x", NULL, false, &a, &e));
    assert_ok(cov_feature_sums_init(&s, &a, "track", NULL, &e));
    assert_ok(cov_track_begin_named(&s.sink, "a", &e));
    assert_ok(cov_track_add(&s.sink, first, 1, &e));
    assert_ok(cov_track_add(&s.sink, first + 1, 2, &e));
    assert_ok(cov_track_end_contig(&s.sink, 100, &e));
    assert_ok(cov_track_begin_named(&s.sink, "other", &e));
    assert_ok(cov_track_add(&s.sink, first, 3, &e));
    assert_ok(cov_track_end_contig(&s.sink, 100, &e));
    assert_ok(cov_track_begin_named(&s.sink, "b", &e));
    assert_ok(cov_track_add(&s.sink, second, 1, &e));
    assert_ok(cov_track_end_contig(&s.sink, 100, &e));
    assert_ok(cov_track_close(&s.sink, &e));
    check(&s.sums[0], 1, 7, 7, 7);
    check(&s.sums[1], 0, 0, 0, 0);
    check(&s.sums[2], 0, 0, 0, 0);
    check(&s.sums[3], 22, 58, -1, 4);
    check(&s.sums[4], 1, 2, 2, 2);
    check(&s.sums[5], 4, 4, -1, 4);
    check(&s.sums[6], 0, 0, 0, 0);
    check(&s.sums[7], 1, 4, 4, 4);
    check(&s.sums[8], 0, 0, 0, 0);
    cov_track_free(&s.sink);
    cov_annotation_fini(&a);
}
