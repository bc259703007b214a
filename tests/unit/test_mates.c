/* test_mates.c - the second of two mates meets the first one.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/features/mates.h"

static struct cov_read left_mate(const char *name, int64_t pos)
{
    return (struct cov_read){.name = name, .pos = pos, .mate_pos = pos + 50, .template_length = 80};
}

static struct cov_read right_mate(const char *name, int64_t pos)
{
    return (struct cov_read){
        .name = name, .pos = pos + 50, .mate_pos = pos, .template_length = -80};
}

static bool meet(struct cov_mates *m, struct cov_read r)
{
    bool met;
    assert_int_equal(cov_mates_meet(m, &r, 0, &met, NULL), COV_OK);
    return met;
}

TEST(meets_the_other_mate_once)
{
    struct cov_mates m = {0};
    assert_false(meet(&m, left_mate("a", 100)));
    assert_false(meet(&m, left_mate("b", 100)));
    assert_true(meet(&m, right_mate("a", 100)));
    assert_false(meet(&m, right_mate("a", 100))); /* a copy of the right mate */
    assert_true(meet(&m, left_mate("a", 100)));
    assert_false(meet(&m, right_mate("b", 101))); /* another alignment of b */
    assert_true(meet(&m, right_mate("b", 100)));
    assert_int_equal(m.n, 1);
    cov_mates_fini(&m);
    cov_mates_fini(&m);
}

TEST(keeps_mates_of_files_in_any_order)
{
    enum { N = 20000 };
    struct cov_mates m = {0};
    char name[16];
    for (int i = 0; i < N; i++) {
        (void)snprintf(name, sizeof name, "r%d", i);
        assert_false(meet(&m, i % 2 ? left_mate(name, i) : right_mate(name, i)));
    }
    assert_int_equal(m.n, N);
    assert_true(m.n_slots <= 8 * N);
    for (int i = N - 1; i >= 0; i--) {
        (void)snprintf(name, sizeof name, "r%d", i);
        assert_true(meet(&m, i % 2 ? right_mate(name, i) : left_mate(name, i)));
    }
    assert_int_equal(m.n, 0);
    cov_mates_fini(&m);
}

TEST(forgets_mates_that_sorted_reads_have_passed)
{
    struct cov_mates m = {.sorted = true};
    for (int i = 0; i < 200000; i++)
        assert_false(meet(&m, left_mate("r", i)));
    assert_true(m.n_slots <= 1024);
    assert_true(meet(&m, right_mate("r", 199990)));
    assert_false(meet(&m, right_mate("r", 190)));
    cov_mates_fini(&m);
}
