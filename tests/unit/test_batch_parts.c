/* test_batch_parts.c - the parts of a batch that cards have, and the nodes of their sums.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/batch_parts.h"

#include "tests/lib/unit.h"

/* The parts of a batch have all of its chunks, in order, and differ by at most one chunk. */
TEST(chunks)
{
    for (size_t n = 0; n < 200; n++) {
        const struct cov_parts all = {n, 0, COV_PARTS};
        assert_int_equal(cov_parts_chunk(all, 0), 0);
        assert_int_equal(cov_parts_chunk(all, COV_PARTS), n);
        for (int part = 0; part < COV_PARTS; part++) {
            size_t size = cov_parts_chunk(all, part + 1) - cov_parts_chunk(all, part);
            assert_in_range(size, n / COV_PARTS, (n + COV_PARTS - 1) / COV_PARTS);
        }
    }
}

/* The first chunk of a card has number 0 there. */
TEST(cards)
{
    for (size_t n = 0; n < 100; n++)
        for (int beg = 0; beg < COV_PARTS; beg++) {
            const struct cov_parts all = {n, 0, COV_PARTS}, some = {n, beg, COV_PARTS};
            assert_int_equal(cov_parts_chunk(some, beg), 0);
            assert_int_equal(cov_parts_chunk(some, COV_PARTS) + cov_parts_chunk(all, beg), n);
        }
}

/* The nodes of a card follow each other, are subtrees, and are as large as possible. */
TEST(nodes)
{
    int most = 0;
    for (int beg = 0; beg < COV_PARTS; beg++)
        for (int end = beg + 1; end <= COV_PARTS; end++) {
            struct cov_node node[COV_MOST_NODES];
            int n = cov_parts_nodes((struct cov_parts){1, beg, end}, node), at = beg;
            most = n > most ? n : most;
            for (int i = 0; i < n; i++) {
                assert_int_equal(node[i].first, at);
                assert_int_equal(node[i].n & (node[i].n - 1), 0);
                assert_int_equal(node[i].first % node[i].n, 0);
                int parent = node[i].first / (2 * node[i].n) * 2 * node[i].n;
                assert_true(parent < beg || parent + 2 * node[i].n > end);
                at += node[i].n;
            }
            assert_int_equal(at, end);
        }
    assert_int_equal(most, COV_MOST_NODES);
}

/* 1, 2, 4, ... cards have one node each. */
TEST(one_node)
{
    struct cov_node node[COV_MOST_NODES];
    for (int n_cards = 1; n_cards <= COV_PARTS; n_cards *= 2)
        for (int i = 0; i < n_cards; i++) {
            const struct cov_parts p = {1, COV_PARTS * i / n_cards, COV_PARTS * (i + 1) / n_cards};
            assert_int_equal(cov_parts_nodes(p, node), 1);
        }
}
