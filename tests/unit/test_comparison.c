/* test_comparison.c - bins and contigs of two tracks, counted by hand.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/track/measures/comparison.h"

static const char *const names[] = {"a", "b", "c"};
static const int64_t lengths[] = {25, 7, 1000};
static const int64_t sizes[] = {1, 10};
static const double floats[2]; /* no denominators */

/* Returns the measured track: a has 0-5 1, 5-15 3, 18-22 5; b has no intervals; d is in no other
 * track. */
static struct cov_interval_store *measured(void)
{
    static const struct cov_interval iv[] = {{0, 5, 1}, {5, 15, 3}, {18, 22, 5}};
    struct cov_interval_store *s;
    assert_ok(cov_interval_store_new("m.bw", NULL, "/tmp", &s, &e));
    struct cov_track_sink *sink = cov_interval_store_sink(s);
    assert_ok(cov_track_begin_named(sink, "b", &e));
    assert_ok(cov_track_end_contig(sink, 7, &e));
    assert_ok(cov_track_begin_named(sink, "d", &e));
    assert_ok(cov_track_add(sink, iv, 1, &e));
    assert_ok(cov_track_end_contig(sink, 9, &e));
    assert_ok(cov_track_begin_named(sink, "a", &e));
    assert_ok(cov_track_add(sink, iv, 3, &e));
    assert_ok(cov_track_end_contig(sink, 25, &e));
    assert_ok(cov_track_close(sink, &e));
    return s;
}

static const struct cov_comparison_options options = {
    .bin_sizes = sizes, .n_bin_sizes = 2, .max_bytes = 1000000, .dir = "/tmp"};

TEST(counts_bins)
{
    static const struct cov_track_contigs contigs = {3, names, lengths};
    static const struct cov_interval iv[] = {{0, 2, 2}, {2, 10, 4}, {12, 20, 6}, {20, 25, 0}};
    struct cov_interval_store *s = measured();
    struct cov_comparison *c;
    assert_ok(cov_comparison_new("x.h5", &contigs, s, floats, &options, &c, &e));
    struct cov_track_sink *sink = &c->sink;
    assert_ok(cov_track_begin(sink, 0, &e));
    assert_ok(cov_track_add(sink, iv, 1, &e));
    assert_ok(cov_track_add(sink, iv + 1, 3, &e));
    assert_ok(cov_track_begin(sink, 1, &e));
    assert_ok(cov_track_add(sink, iv, 1, &e));
    assert_ok(cov_track_begin(sink, 2, &e));
    assert_ok(cov_track_close(sink, &e));
    assert_int_equal(c->n_rows, 2);
    /* Both tracks have values at 0-10, 12-15, 18-22. The pairs are (2,1) twice, (4,1) 3 times,
     * (4,3) 5, (6,3) 3, (6,5) 2, (0,5) 2. */
    const struct cov_comparison_row *row = &c->rows[0];
    assert_int_equal(row->contig, 0);
    assert_int_equal(row->bases, 17);
    assert_int_equal(row->agreements[0].n, 17);
    /* Sums: x 4+12+20+18+12 = 66, y 2+3+15+9+10+10 = 49, xx 8+48+80+108+72 = 316,
     * yy 2+3+45+27+50+50 = 177, xy 4+12+60+54+60 = 190. */
    double r = (17.0 * 190 - 66 * 49) / sqrt((17.0 * 316 - 66 * 66) * (17.0 * 177 - 49 * 49));
    assert_true(fabs(row->agreements[0].pearson - r) < 1e-14);
    /* Bins of 10 have the means (36/10, 20/10), (30/5, 19/5), (0, 5), thus ranks 2 3 1 and 1 2
     * 3. */
    assert_int_equal(row->agreements[1].n, 3);
    assert_true(fabs(row->agreements[1].spearman + 0.5) < 1e-14);
    /* b has no bins, so the total equals a. */
    assert_int_equal(c->rows[1].bases, 0);
    assert_int_equal(c->rows[1].agreements[1].n, 0);
    assert_true(isnan(c->rows[1].agreements[0].pearson));
    const struct cov_comparison_row *total = &c->total;
    assert_int_equal(total->bases, 17);
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(total->agreements[k].pearson - row->agreements[k].pearson) < 1e-14);
        assert_true(fabs(total->agreements[k].spearman - row->agreements[k].spearman) < 1e-14);
    }
    cov_comparison_free(c);
    cov_interval_store_free(s);
}
