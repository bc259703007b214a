/* test_target_counts.c - medians compared with those of the sorted values.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/examples/target_counts.h"

enum { L = 1001, D = 2, ROWS = 3 };

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Returns the lower median of the values above 0 of one dataset. Sorts values. */
static float lower_median(float *values, size_t n)
{
    size_t n_zero = 0;
    qsort(values, n, sizeof *values, by_value);
    while (n_zero < n && values[n_zero] <= 0)
        n_zero++;
    return n_zero < n ? values[n_zero + (n - n_zero - 1) / 2] : 0;
}

/* Draws a target as in examples.h: masked, 0, or up to about `most`. */
static float draw(struct cov_rng *rng, double most)
{
    uint64_t kind = cov_rng_below(rng, 8);
    double v = most * (double)cov_rng_below(rng, 100000) / 1e5;
    return kind == 0 ? -1 : kind < 3 ? 0 : rintf((float)v * 100.0F) / 100.0F;
}

TEST(test_medians)
{
    static const double most[] = {0.02, 3, 500, 1300, 1e6, 1e18};
    struct cov_target_counts *c;
    struct cov_rng rng;
    float targets[L * D], sorted[D][ROWS * L];
    cov_rng_init(&rng, 1);
    assert_ok(cov_target_counts_new(D, &c, &e));
    assert_true(cov_target_counts_median(c, 0) == 0);
    for (size_t k = 0; k < COV_COUNT(most); k++) {
        cov_target_counts_clear(c);
        for (size_t row = 0; row < ROWS; row++) {
            for (size_t i = 0; i < L * D; i++) {
                targets[i] = i % (2 * D) < D || i < D ? draw(&rng, most[k]) : targets[i - D];
                sorted[i % D][row * L + i / D] = targets[i];
            }
            cov_target_counts_add(c, targets, L);
        }
        for (size_t d = 0; d < D; d++) {
            double is = cov_target_counts_median(c, d);
            double wanted = (double)lower_median(sorted[d], (size_t)ROWS * L);
            if (wanted < 655.36)
                assert_true(is == wanted);
            else
                assert_true(is <= wanted && wanted < is * 1.001);
        }
    }
    cov_target_counts_free(c);
    (void)state;
}
