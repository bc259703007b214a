/* test_outliers.c - outliers of tracks whose values and windows are known.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <math.h>

#include "common/base/rng.h"
#include "common/track/outliers.h"

enum { W = COV_OUTLIER_WINDOW };

static struct cov_err e;

/* Adds n windows of noise from window `first` on, in stretches of 100 bases, and the measured
 * coverage `more` in addition. */
static void add(struct cov_outliers *o, size_t contig, int64_t first, int64_t n, double more)
{
    static struct cov_rng rng;
    cov_rng_init(&rng, contig + (uint64_t)first);
    for (int64_t at = first * W; at < (first + n) * W; at += 100) {
        double x = cov_rng_double(&rng);
        assert_int_equal(
            cov_outliers_add(o, contig, at, at + 100, x, x + cov_rng_double(&rng) + more, &e), 0);
    }
}

/* Contig 0 has a repeat of two windows, contig 2 is an organelle, contig 1 and 3 are normal; contig
 * 3 ends with a short peak. */
static void finds_repeat_and_organelle(void **state)
{
    struct cov_outliers o = {.windows = NULL}, plain = {.windows = NULL};
    add(&o, 0, 0, 45, 0);
    add(&o, 0, 45, 2, 500);
    add(&o, 0, 47, 30, 0);
    add(&o, 1, 0, 60, 0);
    add(&o, 2, 0, 1, 100);
    assert_int_equal(cov_outliers_add(&o, 2, W, W + 2000, 1, 3, &e), 0);
    add(&o, 3, 0, 60, 0);
    assert_int_equal(cov_outliers_add(&o, 3, 60 * W, 60 * W + 300, 1, 90, &e), 0);
    assert_int_equal(cov_outliers_find(&o, &e), 0);
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
    assert_int_equal(cov_outliers_add(&plain, 3, 60 * W, 60 * W + 300, 1, 90, &e), 0);
    assert_int_equal(cov_outliers_find(&plain, &e), 0);
    assert_int_equal(plain.n_found, 0);
    assert_true(plain.pearson == plain.pearson_without);
    assert_true(fabs(o.pearson_without - plain.pearson) < 1e-12);
    assert_true(o.pearson < 0.05 && o.pearson_without > 0.2);
    cov_outliers_fini(&o);
    cov_outliers_fini(&plain);
}

/* A stretch over several windows is divided among them. */
static void divides_stretches(void **state)
{
    struct cov_outliers o = {.windows = NULL};
    assert_int_equal(cov_outliers_add(&o, 7, W / 2, 3 * W + 5, 1, 2, &e), 0);
    assert_int_equal(o.n_windows, 4);
    assert_true(o.windows[0].pairs.n == 0.5 * W && o.windows[1].pairs.n == W &&
                o.windows[3].pairs.n == 5);
    assert_int_equal(cov_outliers_find(&o, &e), 0);
    assert_true(isnan(o.pearson) && o.n_found == 0);
    cov_outliers_fini(&o);
}

/* Nothing is an outlier where most of the genome has no coverage, or there is no genome. */
static void needs_a_background(void **state)
{
    struct cov_outliers o = {.windows = NULL};
    assert_int_equal(cov_outliers_find(&o, &e), 0);
    assert_true(o.n_found == 0 && isnan(o.pearson));
    assert_int_equal(cov_outliers_add(&o, 0, 0, 99 * W, 1, 0, &e), 0);
    assert_int_equal(cov_outliers_add(&o, 0, 99 * W, 100 * W, 2, 900, &e), 0);
    assert_int_equal(cov_outliers_find(&o, &e), 0);
    assert_int_equal(o.n_found, 0);
    cov_outliers_fini(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_repeat_and_organelle),
        cmocka_unit_test(divides_stretches),
        cmocka_unit_test(needs_a_background),
    };
    return cmocka_run_group_tests_name("outliers", tests, NULL, NULL);
}
