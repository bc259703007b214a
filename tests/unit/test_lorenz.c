/* test_lorenz.c - curves and metrics of a few values, computed by hand.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/track/measures/lorenz.h"

static const double NEAR = 1e-12;

TEST(measures_a_curve)
{
    double x[] = {3, 0, 1, 0};
    const double want[] = {0, 0, 0.25, 1};
    struct cov_lorenz_shape shape;
    cov_lorenz_make(x, 4);
    for (size_t i = 0; i < 4; i++)
        check_near(x[i], want[i], NEAR);
    cov_lorenz_measure(x, 4, &shape);
    check_near(shape.area, 0.3125, NEAR);
    check_near(shape.intercept, 0.75, NEAR);
    check_near(shape.elbow, 0.75, NEAR);
}

TEST(interpolates)
{
    double x[] = {1, 3};
    cov_lorenz_make(x, 2);
    check_near(cov_lorenz_at(x, 2, 0), 0, NEAR);
    check_near(cov_lorenz_at(x, 2, 0.25), 0.125, NEAR);
    check_near(cov_lorenz_at(x, 2, 0.5), 0.25, NEAR);
    check_near(cov_lorenz_at(x, 2, 0.75), 0.625, NEAR);
    check_near(cov_lorenz_at(x, 2, 1), 1, NEAR);
}

TEST(measures_a_single_bin)
{
    double x[] = {5};
    struct cov_lorenz_shape shape;
    cov_lorenz_make(x, 1);
    cov_lorenz_measure(x, 1, &shape);
    check_near(shape.area, 1, NEAR);
    check_near(shape.intercept, 1, NEAR);
    check_near(shape.elbow, 1, NEAR);
}

static double entropy(double p, double q)
{
    return -p * log2(p) - q * log2(q);
}

/* Half of the bins have a quarter of the signal of b, and half of that of a; zeros do not count. */
TEST(measures_distances)
{
    double a[] = {2, 2, 0, 0}, b[] = {0, 0, 3, 1}, c[] = {2, 0, 0, 6};
    const double want = sqrt(entropy(0.375, 0.625) - (entropy(0.5, 0.5) + entropy(0.25, 0.75)) / 2);
    cov_lorenz_make(a, 4);
    cov_lorenz_make(b, 4);
    cov_lorenz_make(c, 4);
    check_near(cov_lorenz_distance(a, b, 4), want, 1e-9);
    check_near(cov_lorenz_distance(b, a, 4), want, 1e-9);
    check_near(cov_lorenz_distance(b, c, 4), 0, 1e-6);
}

TEST(compares_with_a_control)
{
    const double ties[] = {1, 1, 8}, ahead[] = {6, 0, 4};
    const double x[] = {1, 6, 1, 2}, control[] = {1, 1, 5, 3}, other[] = {5, 1, 1, 3};
    const double want = sqrt(entropy(0.65, 0.35) - (entropy(0.4, 0.6) + entropy(0.9, 0.1)) / 2);
    struct cov_lorenz_gain gain, again;
    assert_ok(cov_lorenz_gain(x, control, 4, &gain, &e));
    check_near(gain.enriched, 0.5, NEAR);
    check_near(gain.difference, 0.5, NEAR);
    check_near(gain.divergence, want, NEAR);
    assert_ok(cov_lorenz_gain(x, other, 4, &again, &e)); /* equal values of x count together */
    check_near(again.difference, gain.difference, NEAR);
    assert_ok(cov_lorenz_gain(ties, ahead, 3, &again, &e));
    check_near(again.difference, 0.4, NEAR);
    assert_ok(cov_lorenz_gain(x, x, 4, &gain, &e));
    assert_true(gain.enriched == 0 && gain.difference == 0 && gain.divergence == 0);
}
