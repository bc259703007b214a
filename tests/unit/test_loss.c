/* test_loss.c - compares the loss and Pearson's r of rows with the plain formulas.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/compute/device.h"
#include "common/net/loss.h"

enum { N = 500, D = 3 };

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-6 * (1 + fabs(wanted))))
        fail_msg("%.12g instead of %.12g", got, wanted);
}

static double plain_pearson(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xy / (sqrt(xx * yy) + 1e-8);
}

static void fill(float *values, float *targets, size_t n)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    for (size_t i = 0; i < n; i++) {
        targets[i] = (float)cov_rng_below(&rng, 1000) / 100.0F;
        values[i] = expf((float)(2 * cov_rng_double(&rng))) + targets[i];
    }
}

/* A row consists of every third element. Merging two rows gives the same r and loss as one long
 * row. */
TEST(test_rows)
{
    static float values[N * D], targets[N * D];
    static double x[2 * N], y[2 * N];
    struct cov_fit fit[2], both = {0};
    fill(values, targets, N * D);
    double loss_of[2];
    for (size_t r = 0; r < 2; r++) {
        size_t n = r ? 17 : N;
        double loss = 0;
        for (size_t i = 0; i < n; i++) {
            x[r * N + i] = (double)values[i * D + r];
            y[r * N + i] = (double)targets[i * D + r];
            loss += x[r * N + i] - y[r * N + i] * log(x[r * N + i]);
        }
        cov_fit_row(values + r, targets + r, n, D, &fit[r]);
        loss_of[r] = loss / (double)n;
        assert_int_equal(fit[r].n, n);
        assert_near(cov_fit_loss(&fit[r]), loss_of[r]);
        assert_near(cov_fit_pearson(&fit[r]), plain_pearson(x + r * N, y + r * N, n));
        cov_fit_merge(&both, &fit[r]);
    }
    assert_near(cov_fit_pearson(&both), plain_pearson(x, y, N + 17));
    assert_near(cov_fit_loss(&both), (loss_of[0] * N + loss_of[1] * 17) / (N + 17));

    struct cov_score score = {0};
    assert_true(isnan(cov_score_loss(&score)) && isnan(cov_score_accuracy(&score)));
    assert_true(isnan(cov_score_pearson_all(&score)));
    cov_score_add(&score, &fit[0], 3);
    cov_score_add(&score, &fit[1], 1);
    assert_near(cov_score_loss(&score), (3 * loss_of[0] + loss_of[1]) / 4);
    assert_near(cov_score_accuracy(&score),
                (cov_fit_pearson(&fit[0]) + cov_fit_pearson(&fit[1])) / 2);
    assert_near(cov_score_pearson_all(&score), cov_fit_pearson(&both));
    assert_int_equal(score.n_rows, 2);
}

/* r is 0 for values without variance, and the loss is finite for values of 0. */
TEST(test_edges)
{
    const float zeros[4] = {0, 0, 0, 0}, some[4] = {0, 1, 2, 0};
    struct cov_fit fit;
    cov_fit_row(zeros, some, 4, 1, &fit);
    assert_true(cov_fit_pearson(&fit) == 0);
    assert_near(cov_fit_loss(&fit), 3 * 87.33654 / 4);
    cov_fit_row(some, zeros, 4, 1, &fit);
    assert_true(cov_fit_pearson(&fit) == 0);
    assert_near(cov_fit_loss(&fit), 0.75);
    cov_fit_row(some, some, 4, 1, &fit);
    assert_near(cov_fit_pearson(&fit), 1);
}

/* A row with masked positions has the same fit as one without these positions. */
TEST(test_mask)
{
    static float values[N], targets[N], kept_values[N], kept_targets[N];
    struct cov_fit fit, kept;
    size_t n = 0;
    fill(values, targets, N);
    for (size_t i = 0; i < N; i++)
        if (i % 3 == 1 || i > 450) {
            targets[i] = COV_TARGET_MASKED;
            values[i] = 1e6F;
        } else {
            kept_values[n] = values[i];
            kept_targets[n++] = targets[i];
        }
    cov_fit_row(values, targets, N, 1, &fit);
    cov_fit_row(kept_values, kept_targets, n, 1, &kept);
    assert_int_equal(fit.n, n);
    assert_memory_equal(&fit, &kept, sizeof fit);
    cov_fit_row(values + 451, targets + 451, N - 451, 1, &fit);
    assert_int_equal(fit.n, 0);
}
