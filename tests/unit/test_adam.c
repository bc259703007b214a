/* test_adam.c - Adam compared with its definition in double precision.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/net/train.h"

enum { N = 37, STEPS = 50 };

static const struct cov_adam adam = {0.003, 0.9, 0.999, 1e-8, 0, 0, 0};
static const struct cov_adam decaying = {0.003, 0.8, 0.99, 1e-8, 0.5, 0, 0};

static void compare(const struct cov_adam *a)
{
    struct cov_rng rng;
    float p[N], m[N] = {0}, v[N] = {0}, g[N];
    double wanted[N], m2[N] = {0}, v2[N] = {0};
    cov_rng_init(&rng, 1);
    for (int i = 0; i < N; i++)
        wanted[i] = (double)(p[i] = (float)cov_rng_double(&rng));
    for (int step = 1; step <= STEPS; step++) {
        for (int i = 0; i < N; i++) {
            /* Very different sizes; one is always 0. */
            g[i] = i == 3 ? 0 : (float)((cov_rng_double(&rng) - 0.4) * pow(10, i % 9 - 4));
            double d = (double)g[i] * 0.5;
            m2[i] = a->beta1 * m2[i] + (1 - a->beta1) * d;
            v2[i] = a->beta2 * v2[i] + (1 - a->beta2) * d * d;
            double up = m2[i] / (1 - pow(a->beta1, step));
            wanted[i] -= a->learning_rate * a->weight_decay * wanted[i];
            wanted[i] -= a->learning_rate * up / (sqrt(v2[i] / (1 - pow(a->beta2, step))) + a->eps);
        }
        cov_adam_step(a, step, 0.5, &(struct cov_adam_slice){N, g, p, m, v});
    }
    for (int i = 0; i < N; i++) {
        assert_true(fabs((double)p[i] - wanted[i]) < 2e-6);
        assert_true(fabs((double)m[i] - m2[i]) <= 1e-5 * fabs(m2[i]) + 1e-12);
        assert_true(fabs((double)v[i] - v2[i]) <= 1e-5 * v2[i]);
    }
    assert_true(fabs(wanted[0] - wanted[1]) > 0.01);
}

TEST(equals_the_definition)
{
    compare(&adam);
    compare(&decaying);
}

TEST(does_not_depend_on_the_split)
{
    struct cov_rng rng;
    float p[2][N], m[2][N] = {{0}}, v[2][N] = {{0}}, g[N];
    cov_rng_init(&rng, 2);
    for (int i = 0; i < N; i++) {
        p[0][i] = p[1][i] = (float)cov_rng_double(&rng);
        g[i] = (float)cov_rng_double(&rng);
    }
    cov_adam_step(&adam, 1, 1, &(struct cov_adam_slice){N, g, p[0], m[0], v[0]});
    for (size_t at = 0, n = 1; at < N; at += n, n++) {
        n = at + n > N ? N - at : n;
        cov_adam_step(&adam, 1, 1,
                      &(struct cov_adam_slice){n, g + at, p[1] + at, m[1] + at, v[1] + at});
    }
    assert_memory_equal(p[0], p[1], sizeof p[0]);
    assert_memory_equal(m[0], m[1], sizeof m[0]);
    assert_memory_equal(v[0], v[1], sizeof v[0]);
}
