/* test_peaks.c - compares peaks at a threshold with peaks counted by hand.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/track/measures/peaks.h"

/* Calls peaks in intervals whose bases all count, and compares them with the expected beginnings
 * and ends. */
static void check(const struct cov_interval *iv, size_t n, const int64_t *wanted, size_t n_wanted)
{
    struct cov_peaks p = {.rules = {5, 200, 30}};
    cov_peaks_begin(&p);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(cov_peaks_add(&p, &iv[i], iv[i].beg, true, NULL), 0);
    assert_int_equal(cov_peaks_end(&p, NULL), 0);
    assert_int_equal(p.n, n_wanted);
    for (size_t i = 0; i < n_wanted; i++) {
        assert_int_equal(p.list[i].beg, wanted[2 * i]);
        assert_int_equal(p.list[i].end, wanted[2 * i + 1]);
        assert_int_equal(p.list[i].count_beg, wanted[2 * i]);
        assert_int_equal(p.list[i].count_end, wanted[2 * i + 1]);
    }
    cov_peaks_fini(&p);
}

TEST(requires_200_bases)
{
    check((const struct cov_interval[]){{10, 209, 5}}, 1, NULL, 0);
    check((const struct cov_interval[]){{10, 210, 5}}, 1, (const int64_t[]){10, 210}, 1);
    check((const struct cov_interval[]){{10, 210, 4.999F}}, 1, NULL, 0);
    check(NULL, 0, NULL, 0);
}

TEST(joins_across_gaps_of_30)
{
    /* Bases below the threshold or without a value are not in peaks. */
    check((const struct cov_interval[]){{0, 100, 9}, {100, 130, 0}, {130, 230, 5}}, 3,
          (const int64_t[]){0, 230}, 1);
    check((const struct cov_interval[]){{0, 100, 9}, {130, 230, 5}}, 2, (const int64_t[]){0, 230},
          1);
    check((const struct cov_interval[]){{0, 100, 9}, {100, 131, 4}, {131, 230, 5}}, 3, NULL, 0);
    check((const struct cov_interval[]){{0, 300, 9}, {331, 600, 5}}, 2,
          (const int64_t[]){0, 300, 331, 600}, 2);
    /* Gaps within a peak count towards its length; gaps at its ends do not. */
    check(
        (const struct cov_interval[]){
            {0, 20, 0}, {20, 21, 5}, {21, 51, 0}, {51, 190, 7}, {190, 219, 1}, {219, 220, 6}},
        6, (const int64_t[]){20, 220}, 1);
    check((const struct cov_interval[]){{20, 21, 5}, {51, 190, 7}, {219, 220, 6}, {220, 250, 4}}, 4,
          (const int64_t[]){20, 220}, 1);
}

TEST(reaches_contig_ends)
{
    struct cov_peaks p = {.rules = {1, 200, 30}};
    for (int contig = 0; contig < 2; contig++) {
        cov_peaks_begin(&p);
        assert_int_equal(cov_peaks_add(&p, &(struct cov_interval){0, 150, 2}, 0, true, NULL), 0);
        if (contig == 1)
            assert_int_equal(
                cov_peaks_add(&p, &(struct cov_interval){150, 200, 2}, 150, true, NULL), 0);
        assert_int_equal(cov_peaks_end(&p, NULL), 0);
        assert_int_equal(p.n, contig); /* nothing carries over to the next contig */
    }
    cov_peaks_fini(&p);
}

TEST(accepts_parts_of_intervals)
{
    check((const struct cov_interval[]){{0, 100, 5}, {100, 101, 5}, {101, 200, 5}}, 3,
          (const int64_t[]){0, 200}, 1);
}

/* Bases added with counts = false are counted neither in a single set of peaks nor as shared
 * bases. */
TEST(counts_selected_bases)
{
    struct cov_peaks a = {.rules = {1, 200, 30}}, b = {.rules = {1, 200, 30}};
    cov_peaks_begin(&a);
    cov_peaks_begin(&b);
    /* 400 bases count: 0-99 and 300-599. */
    assert_int_equal(cov_peaks_add(&a, &(struct cov_interval){0, 100, 1}, 0, true, NULL), 0);
    assert_int_equal(cov_peaks_add(&b, &(struct cov_interval){50, 100, 1}, 50, true, NULL), 0);
    assert_int_equal(cov_peaks_add(&a, &(struct cov_interval){100, 300, 1}, 100, false, NULL), 0);
    assert_int_equal(cov_peaks_add(&b, &(struct cov_interval){120, 300, 1}, 100, false, NULL), 0);
    assert_int_equal(cov_peaks_add(&b, &(struct cov_interval){300, 310, 1}, 100, true, NULL), 0);
    assert_int_equal(cov_peaks_add(&b, &(struct cov_interval){390, 600, 1}, 190, true, NULL), 0);
    assert_int_equal(cov_peaks_add(&a, &(struct cov_interval){350, 600, 1}, 150, true, NULL), 0);
    assert_int_equal(cov_peaks_end(&a, NULL), 0);
    assert_int_equal(cov_peaks_end(&b, NULL), 0);
    assert_int_equal(a.n, 2); /* 0-299, 350-599 */
    assert_int_equal(b.n, 2); /* 50-309, 390-599 */
    assert_int_equal(cov_peaks_bases(&a), 100 + 250);
    assert_int_equal(cov_peaks_bases(&b), 50 + 10 + 210);
    assert_int_equal(cov_peaks_shared(&a, &b), 50 + 210);
    assert_int_equal(cov_peaks_shared(&b, &a), 50 + 210);
    cov_peaks_begin(&b);
    assert_int_equal(cov_peaks_shared(&a, &b), 0);
    cov_peaks_fini(&a);
    cov_peaks_fini(&b);
}

/* Heights and summits as MACS3's bdgpeakcall reports them. */
TEST(finds_summits)
{
    static const struct {
        struct cov_interval iv[6];
        size_t n;
        float max;
        double sum;
        int64_t summit;
    } cases[] = {
        {{{0, 101, 5}}, 1, 5, 505, 50},
        {{{0, 100, 5}, {100, 201, 9}, {201, 300, 6}}, 3, 9, 2003, 150},
        /* Equal neighbours are one stretch, across gaps they are two. */
        {{{0, 100, 9}, {100, 201, 9}, {201, 300, 6}}, 3, 9, 2403, 100},
        {{{0, 100, 9}, {110, 201, 9}, {201, 300, 6}}, 3, 9, 2313, 50},
        /* Of three highest stretches, the second; of two or four, the one before the middle. */
        {{{0, 10, 7}, {20, 30, 7}, {40, 50, 7}, {50, 100, 6}}, 4, 7, 510, 25},
        {{{0, 10, 7}, {20, 30, 7}, {30, 32, 5}, {40, 50, 7}, {60, 70, 7}}, 5, 7, 290, 25},
        /* Lower values within the peak count for the mean, those after it do not. */
        {{{0, 50, 6}, {50, 60, 1}, {60, 90, 8}, {90, 99, 4}}, 4, 8, 550, 75},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_peaks p = {.rules = {5, 10, 30}};
        cov_peaks_begin(&p);
        for (size_t k = 0; k < cases[i].n; k++)
            assert_int_equal(cov_peaks_add(&p, &cases[i].iv[k], 0, true, NULL), 0);
        assert_int_equal(cov_peaks_end(&p, NULL), 0);
        assert_int_equal(p.n, 1);
        assert_true(p.list[0].max == cases[i].max);
        assert_true(p.list[0].sum == cases[i].sum);
        assert_int_equal(p.list[0].summit, cases[i].summit);
        cov_peaks_fini(&p);
    }
}
