/* test_bins.c - means of a region, with and without a list of contigs, compared with direct sums.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/track/bins.h"

enum { LENGTH = 1000, MOST = 16 };

static const int64_t lengths[] = {LENGTH, LENGTH, LENGTH};
static const char *const names[] = {"a", "b", "c"};
static const struct cov_track_contigs contigs = {3, names, lengths};

/* Fills three contigs. The second has the values x, where NaN means that there is no value. */
static void fill(struct cov_track_sink *s, const float *x)
{
    for (size_t c = 0; c < 3; c++) {
        assert_ok(s->contigs ? cov_track_begin(s, c, &e) : cov_track_begin_named(s, names[c], &e));
        for (int64_t i = 0; i < LENGTH; i++) {
            const struct cov_interval iv = {i, i + 1, c == 1 ? x[i] : 1e9F};
            if (isfinite(iv.value))
                assert_ok(cov_track_add(s, &iv, 1, &e));
        }
        if (!s->contigs)
            assert_ok(cov_track_end_contig(s, LENGTH, &e));
    }
    assert_ok(cov_track_close(s, &e));
}

/* The bins of a region of these contigs, listed or announced; one at a time. */
static struct cov_track_sink *make_bins(const char *region, bool listed)
{
    static struct cov_range range;
    struct cov_track_sink *s;
    assert_ok(cov_range_parse(region, &range, &e));
    assert_ok(cov_bins_new(&range, MOST, "x.bg", listed ? &contigs : NULL, &s, &e));
    return s;
}

TEST(matches_direct_means)
{
    static const struct {
        const char *text;
        int64_t beg, end, width;
    } cases[] = {
        {"b:1-1000", 0, 1000, 64},    {"b:11-26", 10, 26, 1}, {"b:1000-1000", 999, 1000, 1},
        {"b:991-2000", 990, 1000, 1}, {"b:11-27", 10, 27, 2}, {"b", 0, 1000, 64},
        {"b:101-340", 100, 340, 15},
    };
    float x[LENGTH];
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    for (size_t i = 0; i < LENGTH; i++)
        x[i] = (i > 400 && i < 600) || cov_rng_next(&rng) % 5 == 0
                   ? (float)NAN
                   : (float)(cov_rng_next(&rng) % 90);
    for (size_t c = 0; c < COV_COUNT(cases) * 2; c++) {
        struct cov_track_sink *s = make_bins(cases[c / 2].text, c % 2 == 0);
        struct cov_bins b;
        fill(s, x);
        struct cov_bins_extent extent;
        assert_ok(cov_bins_extent(s, true, &extent, &e));
        cov_bins_get(s, &extent, &b);
        assert_string_equal(b.contig, "b");
        assert_int_equal(b.beg, cases[c / 2].beg);
        assert_int_equal(b.end, cases[c / 2].end);
        assert_int_equal(b.width, cases[c / 2].width); /* listed or not */
        assert_int_equal(b.n, (b.end - b.beg + b.width - 1) / b.width);
        for (size_t i = 0; i < b.n; i++) {
            double sum = 0, n = 0;
            for (int64_t k = 0; k < b.width; k++) {
                int64_t at = b.beg + (int64_t)i * b.width + k;
                if (at < b.end && isfinite(x[at])) {
                    sum += (double)x[at];
                    n++;
                }
            }
            assert_true(n > 0 ? fabs(b.means[i] - sum / n) < 1e-9 : isnan(b.means[i]));
        }
        cov_track_free(s);
    }
}

TEST(reports_missing_regions)
{
    static const char *const texts[] = {"d:1-5", "d", "b:1001-1002"};
    float x[LENGTH] = {0};
    for (size_t c = 0; c < COV_COUNT(texts); c++)
        for (int listed = 0; listed < 2; listed++) {
            struct cov_track_sink *s = make_bins(texts[c], listed);
            struct cov_bins_extent extent;
            struct cov_err e = COV_ERR_INIT;
            if (!listed)
                fill(s, x);
            assert_int_equal(cov_bins_extent(s, true, &extent, &e), COV_EINPUT);
            assert_int_equal(strncmp(e.text, "x.bg: region ", 13), 0);
            assert_int_equal(strstr(e.text, "; the contigs are: ") != NULL, c < 2);
            cov_track_free(s);
        }
}

/* If lengths are unknown, the bases after the last interval are a gap. */
TEST(handles_unknown_lengths)
{
    static const struct {
        const char *text;
        int64_t beg, end;
    } cases[] = {{"b:991-1010", 990, 1010}, {"b:1001-5000", 1000, 5000}, {"b", 0, 1000}};
    float x[LENGTH];
    for (size_t i = 0; i < LENGTH; i++)
        x[i] = 3;
    for (size_t c = 0; c < COV_COUNT(cases); c++) {
        struct cov_track_sink *s = make_bins(cases[c].text, false);
        struct cov_bins_extent extent;
        struct cov_bins b;
        fill(s, x);
        assert_ok(cov_bins_extent(s, false, &extent, &e));
        assert_string_equal(extent.contig, "b");
        assert_int_equal(extent.beg, cases[c].beg);
        assert_int_equal(extent.end, cases[c].end);
        cov_bins_get(s, &extent, &b);
        assert_in_range(b.n, 1, MOST);
        for (size_t i = 0; i < b.n; i++) {
            if (b.beg + (int64_t)i * b.width < LENGTH)
                assert_true(b.means[i] == 3);
            else
                assert_true(isnan(b.means[i]));
        }
        cov_track_free(s);
    }
}

/* The other track has a longer contig, or has a contig that this track lacks. */
TEST(uses_the_extent_of_another_track)
{
    float x[LENGTH];
    for (size_t i = 0; i < LENGTH; i++)
        x[i] = 3;
    for (size_t c = 0; c < 2; c++) {
        const struct cov_bins_extent extent = {c ? "d" : "b", 0, 1000000};
        struct cov_track_sink *s = make_bins(extent.contig, true);
        struct cov_bins b;
        fill(s, x);
        cov_bins_get(s, &extent, &b);
        assert_int_equal(b.end, 1000000);
        assert_int_equal(b.n, (b.end + b.width - 1) / b.width);
        assert_in_range(b.n, 1, MOST);
        for (size_t i = 0; i < b.n; i++)
            assert_true(c == 0 && i == 0 ? b.means[i] == 3 : isnan(b.means[i]));
        cov_track_free(s);
    }
}
