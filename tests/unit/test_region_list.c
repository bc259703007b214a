/* test_region_list.c - regions are merged, also while they are added, and subtracted.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/codec/codec.h"
#include "common/seq/region_list.h"

static void add(struct cov_region_list *l, size_t contig, int64_t beg, int64_t end)
{
    const struct cov_region region = {contig, beg, end};
    assert_int_equal(cov_region_list_add(l, region, NULL), 0);
}

TEST(test_merging)
{
    struct cov_region_list l = {NULL, 0, 0};
    cov_region_list_merge(&l);
    assert_int_equal(l.n, 0);
    add(&l, 1, 5, 9);
    add(&l, 0, 30, 40);
    add(&l, 0, 10, 20);
    add(&l, 0, 20, 25); /* touches */
    add(&l, 0, 12, 14); /* is inside */
    add(&l, 1, 9, 12);
    cov_region_list_merge(&l);
    assert_int_equal(l.n, 3);
    const struct cov_region wanted[] = {{0, 10, 25}, {0, 30, 40}, {1, 5, 12}};
    assert_memory_equal(l.items, wanted, sizeof wanted);
    cov_region_list_fini(&l);
}

/* Repeated regions take no memory, different ones are all kept. */
TEST(test_many)
{
    struct cov_region_list l = {NULL, 0, 0};
    for (int i = 0; i < 1000000; i++)
        add(&l, 0, i % 10, i % 10 + 2);
    assert_in_range(l.cap, 1, 20000);
    for (int i = 0; i < 100000; i++)
        add(&l, 1, 3 * (i * 7 % 100000), 3 * (i * 7 % 100000) + 1);
    cov_region_list_merge(&l);
    assert_int_equal(l.n, 100001);
    assert_int_equal(l.items[0].end, 11);
    cov_region_list_fini(&l);
}

enum { BASES = 200 };

/* Draws regions of a contig, and marks their bases. */
static void draw(struct cov_rng *rng, struct cov_region_list *l, bool bases[BASES])
{
    l->n = 0;
    memset(bases, 0, BASES * sizeof *bases);
    for (uint64_t n = cov_rng_below(rng, 12); n > 0; n--) {
        const int64_t beg = (int64_t)cov_rng_below(rng, BASES - 20);
        const int64_t end = beg + 1 + (int64_t)cov_rng_below(rng, 20);
        add(l, 0, beg, end);
        for (int64_t i = beg; i < end; i++)
            bases[i] = true;
    }
    cov_region_list_merge(l);
}

TEST(test_subtraction)
{
    struct cov_region_list from = {NULL, 0, 0}, drop = from, out = from;
    bool in_from[BASES], in_drop[BASES];
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    for (int round = 0; round < 300; round++) {
        int64_t n = 0;
        draw(&rng, &from, in_from);
        draw(&rng, &drop, in_drop);
        assert_int_equal(
            cov_region_list_subtract(&out, (struct cov_region_span){from.items, from.n},
                                     (struct cov_region_span){drop.items, drop.n}, NULL),
            0);
        for (int64_t i = 0; i < BASES; i++) {
            n += in_from[i] && !in_drop[i];
            assert_int_equal(cov_region_list_overlaps(&out, i, i + 1), in_from[i] && !in_drop[i]);
        }
        assert_int_equal(cov_region_list_bases(&out), n);
        if (out.n > 0) {
            assert_true(cov_region_list_overlaps(&out, 0, BASES));
            assert_false(cov_region_list_overlaps(&out, 0, out.items[0].beg));
        }
    }
    cov_region_list_fini(&from);
    cov_region_list_fini(&drop);
    cov_region_list_fini(&out);
}

/* An empty piece of an empty blob has an address. */
TEST(test_blob)
{
    struct cov_blob b = COV_BLOB_INIT;
    uint8_t *at = NULL;
    size_t n = 1;
    assert_int_equal(cov_blob_room(&b, 0, &at, NULL), 0);
    assert_non_null(at);
    assert_int_equal(cov_blob_end_piece(&b, 0, NULL), 0);
    assert_ptr_equal(cov_blob_piece(&b, 0, &n), at);
    assert_int_equal(n, 0);
    cov_blob_fini(&b);
}
