/* test_peaks.c - compares peaks at a threshold with peaks counted by hand, and at many cutoffs with
 * peaks found base by base.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/track/measures/peaks.h"

/* Calls peaks in intervals whose bases all count, and compares them with the expected beginnings
 * and ends. */
static void check(const struct cov_interval *iv, size_t n, const int64_t *wanted, size_t n_wanted)
{
    struct cov_peaks p = {.rules = {5, 200, 30}};
    cov_peaks_begin(&p);
    for (size_t i = 0; i < n; i++)
        assert_ok(cov_peaks_add(&p, &iv[i], iv[i].beg, true, &e));
    assert_ok(cov_peaks_end(&p, &e));
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
        assert_ok(cov_peaks_add(&p, &(struct cov_interval){0, 150, 2}, 0, true, &e));
        if (contig == 1)
            assert_ok(cov_peaks_add(&p, &(struct cov_interval){150, 200, 2}, 150, true, &e));
        assert_ok(cov_peaks_end(&p, &e));
        assert_int_equal(p.n, contig); /* nothing carries over to the next contig */
    }
    cov_peaks_fini(&p);
}

/* Bases added with counts = false are counted neither in a single set of peaks nor as shared
 * bases. */
TEST(counts_selected_bases)
{
    struct cov_peaks a = {.rules = {1, 200, 30}}, b = {.rules = {1, 200, 30}};
    cov_peaks_begin(&a);
    cov_peaks_begin(&b);
    /* 400 bases count: 0-99 and 300-599. */
    assert_ok(cov_peaks_add(&a, &(struct cov_interval){0, 100, 1}, 0, true, &e));
    assert_ok(cov_peaks_add(&b, &(struct cov_interval){50, 100, 1}, 50, true, &e));
    assert_ok(cov_peaks_add(&a, &(struct cov_interval){100, 300, 1}, 100, false, &e));
    assert_ok(cov_peaks_add(&b, &(struct cov_interval){120, 300, 1}, 100, false, &e));
    assert_ok(cov_peaks_add(&b, &(struct cov_interval){300, 310, 1}, 100, true, &e));
    assert_ok(cov_peaks_add(&b, &(struct cov_interval){390, 600, 1}, 190, true, &e));
    assert_ok(cov_peaks_add(&a, &(struct cov_interval){350, 600, 1}, 150, true, &e));
    assert_ok(cov_peaks_end(&a, &e));
    assert_ok(cov_peaks_end(&b, &e));
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
            assert_ok(cov_peaks_add(&p, &cases[i].iv[k], 0, true, &e));
        assert_ok(cov_peaks_end(&p, &e));
        assert_int_equal(p.n, 1);
        assert_true(p.list[0].max == cases[i].max);
        assert_true(p.list[0].sum == cases[i].sum);
        assert_int_equal(p.list[0].summit, cases[i].summit);
        cov_peaks_fini(&p);
    }
}

/* ---- many cutoffs ---- */

enum { MAX_BASES = 2000 };

/* A contig, base by base. */
struct bases {
    size_t n;
    float values[MAX_BASES];
    bool has_value[MAX_BASES], is_positive[MAX_BASES];
};

static void check_sums(const struct cov_peak_sums *got, const struct cov_peak_sums *want)
{
    assert_true(got->cutoff == want->cutoff);
    assert_int_equal(got->n, want->n);
    assert_int_equal(got->valued, want->valued);
    assert_int_equal(got->positive, want->positive);
}

/* Adds the peak beg .. end-1 if it is long enough. */
static void add_peak(const struct bases *b, size_t beg, size_t end, int64_t min_length,
                     struct cov_peak_sums *sums)
{
    if ((int64_t)(end - beg) < min_length)
        return;
    sums->n++;
    for (size_t i = beg; i < end; i++) {
        sums->valued += b->has_value[i];
        sums->positive += b->has_value[i] && b->is_positive[i];
    }
}

/* Adds the peaks of a contig at sums->cutoff. */
static void add_peaks(const struct bases *b, const struct cov_peak_rules *rules,
                      struct cov_peak_sums *sums)
{
    size_t beg = 0, end = 0; /* of the last peak; empty: none */
    for (size_t i = 0; i < b->n; i++) {
        if (!b->has_value[i] || b->values[i] < sums->cutoff)
            continue;
        if (end > 0 && (int64_t)(i - end) > rules->max_gap) {
            add_peak(b, beg, end, rules->min_length, sums);
            end = 0;
        }
        if (end == 0)
            beg = i;
        end = i + 1;
    }
    if (end > 0)
        add_peak(b, beg, end, rules->min_length, sums);
}

/* Adds an interval of the contig to both. */
static void add_interval(struct cov_peak_scan *s, struct bases *b, int64_t beg, int64_t end,
                         float value, const bool *is_positive)
{
    const struct cov_interval iv = {beg, end, value};
    int64_t n_positive = 0;
    for (int64_t i = beg; i < end; i++) {
        b->values[i] = value;
        b->has_value[i] = true;
        b->is_positive[i] = is_positive[i];
        n_positive += is_positive[i];
    }
    cov_peak_scan_add(s, &iv, n_positive);
}

/* Draws a contig of random intervals and gaps. Returns the number of cutoffs that have a peak. */
static size_t draw_contig(struct cov_rng *rng, struct cov_peak_scan *s, struct bases *b)
{
    static const float values[] = {-3, 0, 0, 0, 0.5F, 1, 2, 2.5F, 7, 40};
    static bool is_positive[MAX_BASES];
    *b = (struct bases){.n = cov_rng_below(rng, MAX_BASES)};
    for (size_t i = 0, positive = 0; i < MAX_BASES; i++) {
        positive ^= cov_rng_below(rng, 20) == 0;
        is_positive[i] = positive;
    }
    for (size_t at = 0, end; at < b->n; at = end) {
        end = at + 1 + cov_rng_below(rng, cov_rng_below(rng, 2) ? 4 : 40);
        end = end < b->n ? end : b->n;
        if (cov_rng_below(rng, 6) > 0)
            add_interval(s, b, (int64_t)at, (int64_t)end,
                         values[cov_rng_below(rng, COV_COUNT(values))], is_positive);
    }
    return cov_peak_scan_end(s);
}

/* In every third contig, the peaks at the higher half of the cutoffs are not counted. */
TEST(agrees_with_single_bases)
{
    /* Some are values of the track, some are between them, and two are past the ends. */
    static const float cutoffs[] = {-9, -3, 0, 0.25F, 0.5F, 1, 2.25F, 2.5F, 40, 41};
    static const struct cov_peak_rules rules[] = {
        {.min_length = 1, .max_gap = 0},   {.min_length = 1, .max_gap = 1},
        {.min_length = 5, .max_gap = 3},   {.min_length = 20, .max_gap = 0},
        {.min_length = 30, .max_gap = 10}, {.min_length = 3000, .max_gap = 50},
    };
    static struct bases b;
    struct cov_rng rng;
    uint64_t n = 0;
    cov_rng_init(&rng, 31);
    for (size_t k = 0; k < COV_COUNT(rules); k++) {
        struct cov_peak_scan s;
        struct cov_peak_sums want[COV_COUNT(cutoffs)] = {{0}};
        assert_ok(cov_peak_scan_init(&s, cutoffs, COV_COUNT(cutoffs), &rules[k], &e));
        for (size_t i = 0; i < COV_COUNT(cutoffs); i++)
            want[i].cutoff = cutoffs[i];
        for (int contig = 0; contig < 20; contig++) {
            s.n_counted = contig % 3 == 0 ? COV_COUNT(cutoffs) / 2 : COV_COUNT(cutoffs);
            const size_t n_with = draw_contig(&rng, &s, &b);
            for (size_t i = 0; i < COV_COUNT(cutoffs); i++) {
                struct cov_peak_sums here = {.cutoff = cutoffs[i]};
                add_peaks(&b, &rules[k], &here);
                assert_int_equal(here.n > 0, i < n_with);
                if (i < s.n_counted)
                    add_peaks(&b, &rules[k], &want[i]);
            }
        }
        for (size_t i = 0; i < COV_COUNT(cutoffs); i++) {
            check_sums(&s.sums[i], &want[i]);
            n += want[i].n;
        }
        cov_peak_scan_fini(&s);
    }
    assert_true(n > 5000);
}

/* Lengths and gaps at the limits and one off; a peak that ends with its contig; equal values in
 * neighbouring intervals. */
TEST(limits)
{
    static const float cutoffs[] = {1, 2};
    const struct cov_peak_rules rules = {.min_length = 10, .max_gap = 3};
    static const struct {
        struct cov_interval iv;
        int64_t positive;
        bool ends; /* the contig */
    } track[] = {
        {{0, 9, 1}, 1, false},  {{9, 12, 0}, 1, false}, {{12, 13, 1}, 1, false}, /* 13 bases */
        {{17, 26, 1}, 4, true},                                                  /* 9 bases */
        {{0, 5, 2}, 5, false},  {{5, 10, 2}, 0, true},                           /* 10 bases */
        {{0, 4, 2}, 0, false},  {{7, 13, 2}, 6, false}, {{14, 20, 1}, 0, true},  /* 20, or 13 */
    };
    static const struct cov_peak_sums want[] = {{1, 3, 39, 14}, {2, 2, 20, 11}};
    struct cov_peak_scan s;
    assert_ok(cov_peak_scan_init(&s, cutoffs, 2, &rules, &e));
    for (size_t i = 0; i < COV_COUNT(track); i++) {
        cov_peak_scan_add(&s, &track[i].iv, track[i].positive);
        if (track[i].ends)
            (void)cov_peak_scan_end(&s);
    }
    for (size_t k = 0; k < 2; k++)
        check_sums(&s.sums[k], &want[k]);
    cov_peak_scan_fini(&s);
    cov_peak_scan_fini(&s);
}
