/* test_gauss.c - Gaussian smoothing compared with direct sums.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/track/gauss.h"
#include "tests/lib/smooth_pieces.h"

static void init_gauss(struct cov_smoother *s, double sd, bool round)
{
    const struct cov_smoothing gauss = {.sd = sd};
    assert_ok(cov_smoother_init(s, &gauss, round, &e));
}

static double direct(const float *x, size_t n, double sd, size_t i)
{
    int64_t r = (int64_t)(4 * sd + 0.5);
    double total = 0, sum = 0;
    for (int64_t j = -r; j <= r; j++) {
        double w = exp(-0.5 * (double)(j * j) / (sd * sd));
        total += w;
        int64_t at = (int64_t)i + j;
        if (at >= 0 && at < (int64_t)n)
            sum += w * (double)x[at];
    }
    return sum / total;
}

enum kind { DENSE, SPARSE, STEPS, FLOATS, KINDS };

static void make(struct cov_rng *rng, enum kind kind, float *x, size_t n)
{
    size_t left = 0;
    float value = 0;
    for (size_t i = 0; i < n; i++, left--) {
        uint64_t random = cov_rng_next(rng);
        if (left == 0) {
            left = kind == STEPS ? 1 + random % 200 : 1;
            value = (float)(random / 256 % 50);
        }
        if (kind == SPARSE)
            value = random % 40 ? 0 : (float)(random / 64 % 1000);
        if (kind == FLOATS)
            value = (float)((double)(random % 1000003) / 1e4 - 3);
        x[i] = value;
    }
}

TEST(matches_direct_sums)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    static const double sds[] = {0.1, 0.5, 1, 1.3, 2.5, 7, 50.25};
    static const size_t lengths[] = {1, 2, 15, 16, 17, 31, 100, 401, 402, 1000};
    static const size_t pieces[] = {1, 16, 400, 0};
    for (size_t s = 0; s < COV_COUNT(sds); s++)
        for (int round = 0; round < 2; round++) {
            struct cov_smoother g;
            init_gauss(&g, sds[s], round);
            for (size_t c = 0; c < COV_COUNT(lengths) * KINDS; c++) {
                size_t n = lengths[c / KINDS];
                float x[MAX_N], out[MAX_N], same[MAX_N];
                make(&rng, c % KINDS, x, n);
                smooth(&g, x, n, 0, out);
                for (size_t p = 0; p < COV_COUNT(pieces); p++) {
                    smooth(&g, x, n, pieces[p], same);
                    assert_memory_equal(same, out, n * sizeof *out);
                }
                for (size_t i = 0; i < n; i++) {
                    double wanted = direct(x, n, sds[s], i), got = (double)out[i];
                    if (!round)
                        assert_true(fabs(got - wanted) <= 1e-7 * fabs(wanted) + 1e-13);
                    else if (fabs(wanted - floor(wanted) - 0.5) > 1e-9)
                        assert_true(got == rint(wanted));
                }
            }
            cov_smoother_fini(&g);
        }
}

/* Constant stretches keep their value to the last bit, even zeros next to large values. */
TEST(keeps_constants)
{
    static const float values[] = {0, 0.1F, 3, 1e30F, -7.7F};
    struct cov_smoother g;
    init_gauss(&g, 10, false);
    for (size_t v = 0; v < COV_COUNT(values); v++) {
        float x[MAX_N], out[MAX_N];
        for (size_t i = 0; i < MAX_N; i++)
            x[i] = values[v];
        x[500] = 1e30F;
        x[502] = -0.3F;
        smooth(&g, x, MAX_N, 0, out);
        for (size_t i = 40; i < MAX_N - 40; i++)
            assert_true(out[i] == values[v] || (i >= 460 && i <= 542));
        assert_true(out[2] < values[v] || values[v] <= 0);
    }
    cov_smoother_fini(&g);
}

/* The sum is preserved: the weights add up to 1. */
TEST(keeps_the_sum)
{
    static const double sds[] = {0.3, 3, 60.5};
    for (size_t s = 0; s < COV_COUNT(sds); s++) {
        struct cov_smoother g;
        float x[MAX_N] = {0}, out[MAX_N];
        double sum = 0;
        init_gauss(&g, sds[s], false);
        x[1000] = 1;
        smooth(&g, x, MAX_N, 0, out);
        for (size_t i = 0; i < MAX_N; i++)
            sum += (double)out[i];
        assert_true(fabs(sum - 1) < 1e-6);
        for (size_t i = 1; i < 900; i++)
            assert_true(out[1000 - i] == out[1000 + i]);
        cov_smoother_fini(&g);
    }
}

/* Values do not change if sd is so small that its square is 0, or that sd is denormal. */
TEST(keeps_values_if_narrow)
{
    static const double sds[] = {0.1, 1e-100, 1e-200, 1e-320};
    for (size_t s = 0; s < COV_COUNT(sds); s++) {
        struct cov_smoother g;
        float x[100], out[100];
        for (size_t i = 0; i < COV_COUNT(x); i++)
            x[i] = (float)(i % 7);
        init_gauss(&g, sds[s], false);
        smooth(&g, x, COV_COUNT(x), 0, out);
        assert_memory_equal(out, x, sizeof x);
        cov_smoother_fini(&g);
    }
}

/* Uses the widest kernel, which is much wider than the contigs, and one state for several
 * contigs. */
TEST(handles_short_contigs)
{
    struct cov_smoother g;
    init_gauss(&g, COV_GAUSS_MAX_SD, false);
    float x[MAX_N], out[MAX_N];
    for (size_t n = 0; n < 20; n++) {
        for (size_t i = 0; i < n; i++)
            x[i] = (float)(i + n);
        smooth(&g, x, n, 0, out);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs((double)out[i] - direct(x, n, COV_GAUSS_MAX_SD, i)) < 1e-9);
    }
    cov_smoother_fini(&g);
}
