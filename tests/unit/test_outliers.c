/* test_outliers.c - outliers of tracks whose values and windows are known.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/track/measures/outliers.h"

enum { W = COV_OUTLIER_WINDOW };

/* Adds n windows of noise from window `first` on, in stretches of 100 bases, and the measured
 * coverage `more` in addition. */
static void add(struct cov_outliers *o, size_t contig, int64_t first, int64_t n, double more)
{
    static struct cov_rng rng;
    cov_rng_init(&rng, contig + (uint64_t)first);
    for (int64_t at = first * W; at < (first + n) * W; at += 100) {
        double x = cov_rng_double(&rng);
        assert_ok(
            cov_outliers_add(o, contig, at, at + 100, x, x + cov_rng_double(&rng) + more, &e));
    }
}

/* Contig 0 has a repeat of two windows, contig 2 is an organelle, contig 1 and 3 are normal; contig
 * 3 ends with a short peak. */
TEST(finds_repeat_and_organelle)
{
    struct cov_outliers o = {.windows = NULL}, plain = {.windows = NULL};
    add(&o, 0, 0, 45, 0);
    add(&o, 0, 45, 2, 500);
    add(&o, 0, 47, 30, 0);
    add(&o, 1, 0, 60, 0);
    add(&o, 2, 0, 1, 100);
    assert_ok(cov_outliers_add(&o, 2, W, W + 2000, 1, 3, &e));
    add(&o, 3, 0, 60, 0);
    assert_ok(cov_outliers_add(&o, 3, 60 * W, 60 * W + 300, 1, 90, &e));
    assert_ok(cov_outliers_find(&o, &e));
    assert_int_equal(o.n_found, 2);
    assert_true(o.found[0].contig == 0 && !o.found[0].is_whole);
    assert_true(o.found[0].beg == 45 * W && o.found[0].end == 47 * W);
    assert_true(fabs(o.found[0].mean - 501) < 0.1);
    assert_true(o.found[1].contig == 2 && o.found[1].is_whole && o.found[1].end == 2 * W);
    assert_true(fabs(o.found[1].mean - (101.0 * W + 3.0 * 2000) / (W + 2000)) < 0.1);

    add(&plain, 0, 0, 45, 0);
    add(&plain, 0, 47, 30, 0);
    add(&plain, 1, 0, 60, 0);
    add(&plain, 3, 0, 60, 0);
    assert_ok(cov_outliers_add(&plain, 3, 60 * W, 60 * W + 300, 1, 90, &e));
    assert_ok(cov_outliers_find(&plain, &e));
    assert_int_equal(plain.n_found, 0);
    assert_true(plain.pearson == plain.pearson_without);
    assert_true(fabs(o.pearson_without - plain.pearson) < 1e-12);
    assert_true(o.pearson < 0.05 && o.pearson_without > 0.2);
    cov_outliers_fini(&o);
    cov_outliers_fini(&plain);
}

/* A stretch over several windows is divided among them. */
TEST(divides_stretches)
{
    struct cov_outliers o = {.windows = NULL};
    assert_ok(cov_outliers_add(&o, 7, W / 2, 3 * W + 5, 1, 2, &e));
    assert_int_equal(o.n_windows, 4);
    assert_true(o.windows[0].pairs.n == 0.5 * W && o.windows[1].pairs.n == W &&
                o.windows[3].pairs.n == 5);
    assert_ok(cov_outliers_find(&o, &e));
    assert_true(isnan(o.pearson) && o.n_found == 0);
    cov_outliers_fini(&o);
}

/* Nothing is an outlier where most of the genome has no coverage, or there is no genome. */
TEST(needs_a_background)
{
    struct cov_outliers o = {.windows = NULL};
    assert_ok(cov_outliers_find(&o, &e));
    assert_true(o.n_found == 0 && isnan(o.pearson));
    assert_ok(cov_outliers_add(&o, 0, 0, 99 * W, 1, 0, &e));
    assert_ok(cov_outliers_add(&o, 0, 99 * W, 100 * W, 2, 900, &e));
    assert_ok(cov_outliers_find(&o, &e));
    assert_int_equal(o.n_found, 0);
    assert_ok(cov_outliers_add(&o, 1, 0, 4 * W, 3, 900, &e));
    assert_ok(cov_outliers_find(&o, &e));
    assert_int_equal(o.n_found, 0);
    cov_outliers_fini(&o);
}

/* Adds the windows of a contig, with the measured coverage 10 times x. */
static void add_elevated(struct cov_outliers *o, size_t contig, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const double x = i % 3 == 0 ? 0.5 : 1.5;
        assert_ok(cov_outliers_add(o, contig, i * W, (i + 1) * W, x, 10 * x, &e));
    }
}

/* An organelle of 9 windows among small chromosomes, one of which has a repeat that raises its
 * mean above that of the organelle. */
TEST(finds_elevated_contig)
{
    struct cov_outliers o = {.windows = NULL}, plain = {.windows = NULL};
    for (size_t contig = 0; contig < 4; contig++)
        add(&o, contig, 0, 20, 0);
    add(&o, 3, 20, 1, 2000);
    add(&o, 3, 21, 1, 0);
    add_elevated(&o, 4, 9);
    assert_ok(cov_outliers_find(&o, &e));
    assert_int_equal(o.n_found, 2);
    assert_true(o.found[0].contig == 3 && !o.found[0].is_whole);
    assert_true(o.found[0].beg == 20 * W && o.found[0].end == 21 * W);
    assert_true(o.found[1].contig == 4 && o.found[1].is_whole);
    assert_true(o.found[1].beg == 0 && o.found[1].end == 9 * W);
    assert_true(fabs(o.found[1].mean - (3 * 5.0 + 6 * 15.0) / 9) < 1e-9);

    for (size_t contig = 0; contig < 4; contig++)
        add(&plain, contig, 0, 20, 0);
    add(&plain, 3, 21, 1, 0);
    assert_ok(cov_outliers_find(&plain, &e));
    assert_int_equal(plain.n_found, 0);
    assert_true(fabs(o.pearson_without - plain.pearson) < 1e-12);
    cov_outliers_fini(&o);
    cov_outliers_fini(&plain);
}

/* Half of the contigs are large organelles and contigs of rDNA, of different coverage. The first
 * contig is a tenth of the bases with a tenth of the coverage. */
TEST(finds_many_elevated_contigs)
{
    struct cov_outliers o = {.windows = NULL};
    assert_ok(cov_outliers_add(&o, 0, 0, 10 * W, 1, 0.1, &e));
    add(&o, 1, 0, 60, 0);
    for (size_t contig = 2; contig < 7; contig++)
        add(&o, contig, 0, 6, 10.0 * (double)contig);
    assert_ok(cov_outliers_find(&o, &e));
    assert_int_equal(o.n_found, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(o.found[i].contig == i + 2 && o.found[i].is_whole);
    cov_outliers_fini(&o);
}

/* Coverage of a few windows is a peak, also in a contig of its own: only contigs of at least three
 * windows count, and only above what the other contigs have in places. */
TEST(leaves_peaks_alone)
{
    for (int64_t n = 2; n <= 3; n++) {
        struct cov_outliers o = {.windows = NULL};
        add(&o, 0, 0, 30, 0);
        add(&o, 1, 0, n, 9);
        assert_ok(cov_outliers_add(&o, 2, 0, 1000, 1, 40, &e));
        assert_ok(cov_outliers_find(&o, &e));
        assert_int_equal(o.n_found, n == 3);
        cov_outliers_fini(&o);
    }
    for (int is_higher = 0; is_higher <= 1; is_higher++) {
        struct cov_outliers o = {.windows = NULL};
        for (size_t contig = 0; contig < 20; contig++) {
            add(&o, contig, 0, 9, 0);
            add(&o, contig, 9, 1, 9);
        }
        add(&o, 20, 0, 9, is_higher ? 18 : 9);
        assert_ok(cov_outliers_find(&o, &e));
        assert_int_equal(o.n_found, is_higher);
        cov_outliers_fini(&o);
    }
}

/* Many contigs of less than a window, one in ten with a peak: a larger contig is an outlier if
 * its coverage is above that of the peaks. */
TEST(takes_many_contigs)
{
    enum { CONTIGS = 60000 };
    for (int is_higher = 0; is_higher <= 1; is_higher++) {
        struct cov_outliers o = {.windows = NULL};
        for (size_t contig = 0; contig < CONTIGS; contig++)
            assert_ok(cov_outliers_add(&o, contig, 0, 800, 1, contig % 10 == 0 ? 20 : 1, &e));
        add(&o, CONTIGS, 0, 5, is_higher ? 31 : 5);
        assert_ok(cov_outliers_find(&o, &e));
        assert_int_equal(o.n_found, is_higher);
        assert_true(!is_higher || (o.found[0].contig == CONTIGS && o.found[0].is_whole));
        cov_outliers_fini(&o);
    }
}
