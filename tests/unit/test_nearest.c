/* test_nearest.c - the nearest features of places, against a comparison with all of them.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include <inttypes.h>

#include "common/base/rng.h"
#include "common/features/nearest.h"

enum { LENGTH = 300 };

/* Returns by how many bases a feature and a place are apart, negative upstream of the feature. */
static int64_t distance_of(const struct cov_feature *f, int64_t beg, int64_t end)
{
    if (f->beg < end && beg < f->end)
        return 0;
    const int64_t apart = end <= f->beg ? f->beg - end + 1 : beg - f->end + 1;
    return (end <= f->beg) == (f->strand != '-') ? -apart : apart;
}

static void check_all(const struct cov_annotation *a, const struct cov_nearest *n,
                      const char *contig)
{
    size_t number, found;
    int64_t distance;
    assert_true(cov_names_find(a->contigs, contig, strlen(contig), &number));
    for (int64_t beg = 0; beg < LENGTH; beg++)
        for (int64_t end = beg + 1; end < beg + 40; end += 13) {
            size_t best = SIZE_MAX;
            for (size_t i = 0; i < a->n; i++)
                if (a->items[i].contig == number &&
                    (best == SIZE_MAX || llabs(distance_of(&a->items[i], beg, end)) <
                                             llabs(distance_of(&a->items[best], beg, end))))
                    best = i;
            assert_true(cov_nearest_find(n, contig, beg, end, &found, &distance));
            assert_int_equal(found, best);
            assert_int_equal(distance, distance_of(&a->items[best], beg, end));
        }
}

TEST(nearest_features)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (int round = 0; round < 30; round++) {
        char text[2000] = "";
        size_t used = 0;
        for (int i = 0; i < 1 + round; i++) {
            const int beg = (int)cov_rng_below(&rng, LENGTH);
            const int n = 1 + (int)cov_rng_below(&rng, round % 2 ? 8 : 90);
            used += (size_t)snprintf(text + used, sizeof text - used, "%c\t%d\t%d\tg\t0\t%c\n",
                                     i % 3 ? 'a' : 'c', beg, beg + n, "+-."[i % 3]);
        }
        put_text("f.bed", text);
        struct cov_annotation a;
        struct cov_nearest *n = NULL;
        size_t found;
        int64_t distance;
        assert_ok(cov_annotation_read("f.bed", "gene", false, &a, &e));
        assert_ok(cov_nearest_new(&a, &n, &e));
        check_all(&a, n, "c");
        if (round > 0)
            check_all(&a, n, "a");
        assert_false(cov_nearest_find(n, "b", 1, 2, &found, &distance));
        cov_nearest_free(n);
        cov_annotation_fini(&a);
    }
}

TEST_GROUP(enter_dir, leave_dir)
