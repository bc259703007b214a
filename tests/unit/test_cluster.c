/* test_cluster.c - clusters and their order against those of scipy (linkage with
 * method='complete', leaves_list), and ties.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/track/measures/cluster.h"

TEST(equals_scipy)
{
    enum { N = 7 };
    double d[N * N] = {
        0,    1.44, 0.46, 1.35, 0.16, 1.12, 1.15, /**/
        1.44, 0,    0.97, 0.28, 1.3,  1.36, 0.09, /**/
        0.46, 0.97, 0,    0.39, 0.83, 0.49, 0.85, /**/
        1.35, 0.28, 0.39, 0,    0.72, 0.63, 1.26, /**/
        0.16, 1.3,  0.83, 0.72, 0,    1.28, 0.75, /**/
        1.12, 1.36, 0.49, 0.63, 1.28, 0,    0.93, /**/
        1.15, 0.09, 0.85, 1.26, 0.75, 0.93, 0,
    };
    const struct cov_cluster_join want[N - 1] = {
        {1, 6, 0.09, 2}, {0, 4, 0.16, 2},  {2, 3, 0.39, 2},
        {5, 9, 0.63, 3}, {8, 10, 1.35, 5}, {7, 11, 1.44, 7},
    };
    const size_t order[N] = {1, 6, 0, 4, 5, 2, 3};
    struct cov_cluster_join got[N - 1];
    size_t leaves[N];
    assert_ok(cov_cluster_complete(d, N, got, &e));
    for (size_t k = 0; k < N - 1; k++) {
        assert_int_equal(got[k].a, want[k].a);
        assert_int_equal(got[k].b, want[k].b);
        assert_int_equal(got[k].size, want[k].size);
        assert_true(fabs(got[k].distance - want[k].distance) < 1e-12);
    }
    assert_ok(cov_cluster_leaves(got, N, leaves, &e));
    assert_memory_equal(leaves, order, sizeof order);
}

/* Of equally near pairs, the first one. */
TEST(breaks_ties_by_order)
{
    enum { N = 4 };
    double d[N * N] = {0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0};
    const struct cov_cluster_join want[N - 1] = {{0, 1, 1, 2}, {2, 4, 1, 3}, {3, 5, 1, 4}};
    const size_t order[N] = {3, 2, 0, 1};
    struct cov_cluster_join got[N - 1];
    size_t leaves[N];
    assert_ok(cov_cluster_complete(d, N, got, &e));
    for (size_t k = 0; k < N - 1; k++)
        assert_true(got[k].a == want[k].a && got[k].b == want[k].b && got[k].size == want[k].size);
    assert_ok(cov_cluster_leaves(got, N, leaves, &e));
    assert_memory_equal(leaves, order, sizeof order);
}

TEST(takes_a_single_item)
{
    double d[] = {0};
    struct cov_cluster_join none;
    size_t leaf = 5;
    assert_ok(cov_cluster_complete(d, 1, &none, &e));
    assert_ok(cov_cluster_leaves(&none, 1, &leaf, &e));
    assert_int_equal(leaf, 0);
}
