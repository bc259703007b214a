/* test_agreement.c - correlations compared with results by hand and with a simple ranking.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/track/measures/agreement.h"

struct pair {
    float x, y;
    uint64_t n;
};

static struct cov_agreement agreement(const struct pair *pairs, size_t n)
{
    struct cov_pairs p;
    struct cov_agreement a;
    assert_ok(cov_pairs_init(&p, 0, "/tmp", &e));
    for (size_t i = 0; i < n; i++)
        assert_ok(cov_pairs_add(&p, pairs[i].x, pairs[i].y, pairs[i].n, &e));
    assert_ok(cov_pairs_finish(&p, NULL, &a, &e));
    cov_pairs_fini(&p);
    return a;
}

TEST(matches_hand_computation)
{
    /* x 1 2 3 4, y 1 3 2 4: r = rho = 4/5. */
    struct cov_agreement a =
        agreement((const struct pair[]){{3, 2, 1}, {1, 1, 1}, {4, 4, 1}, {2, 3, 1}}, 4);
    assert_int_equal(a.n, 4);
    assert_true(fabs(a.pearson - 0.8) < 1e-15);
    assert_true(fabs(a.spearman - 0.8) < 1e-15);
    /* x 0 0 1 9, ranks 1.5 1.5 3 4; y 5 6 6 7, ranks 1 2.5 2.5 4. The rank deviations -1 -1 .5 1.5
     * and -1.5 0 0 1.5 give products 1.5 + 2.25 = 3.75 and squares 4.5 and 4.5. */
    a = agreement((const struct pair[]){{0, 5, 1}, {0, 6, 1}, {1, 6, 1}, {9, 7, 1}}, 4);
    assert_true(fabs(a.spearman - 3.75 / 4.5) < 1e-15);
    /* The means 2.5 and 6 give products 2.5 + 6.5 = 9 and squares 6.25 + 6.25 + 2.25 + 42.25 = 57
     * and 2. */
    assert_true(fabs(a.pearson - 9 / sqrt(57.0 * 2)) < 1e-15);
    /* The same pairs, each several times. */
    a = agreement((const struct pair[]){{0, 5, 3}, {0, 6, 1}, {0, 6, 2}, {9, 7, 3}, {1, 6, 3}}, 5);
    assert_int_equal(a.n, 12);
    assert_true(fabs(a.pearson - 9 / sqrt(57.0 * 2)) < 1e-15);
    assert_true(fabs(a.spearman - 3.75 / 4.5) < 1e-15);
}

TEST(is_undefined_without_variance)
{
    static const struct pair constant_x[] = {{0.1F, 1, 100}, {0.1F, 2, 3}, {0.1F, 5, 1}};
    static const struct pair constant_y[] = {{-0.0F, 0.0F, 7}, {2, -0.0F, 3}};
    struct cov_agreement a = agreement(NULL, 0);
    assert_int_equal(a.n, 0);
    assert_true(isnan(a.pearson) && isnan(a.spearman));
    a = agreement(constant_x, 1);
    assert_true(isnan(a.pearson) && isnan(a.spearman));
    a = agreement(constant_x, 3);
    assert_int_equal(a.n, 104);
    assert_true(isnan(a.pearson) && isnan(a.spearman));
    a = agreement(constant_y, 2);
    assert_true(isnan(a.pearson) && isnan(a.spearman));
}

TEST(orders_negative_values)
{
    /* y falls as x rises, with zeros of either sign in between. */
    static const struct pair pairs[] = {{-3e30F, 4, 1}, {-2, 3, 1},   {-1e-30F, 2.5F, 1},
                                        {-0.0F, 2, 1},  {0.0F, 2, 1}, {5, -7, 1}};
    struct cov_agreement a = agreement(pairs, 6);
    assert_true(fabs(a.spearman + 1) < 1e-15);
    assert_true(a.pearson < 0 && a.pearson >= -1);
}

/* A genome of 17 Gbp, mostly 0 in both tracks. Counts above 32 bits pass through both sorts. */
TEST(handles_counts_above_32_bits)
{
    const uint64_t many = UINT64_C(17000000000);
    struct cov_agreement a =
        agreement((const struct pair[]){{0, 0, many}, {1, 1, 5000000000}, {0, 1, 1000000000}}, 3);
    /* For a 2 x 2 table, r = rho = (ad - bc) / sqrt(product of the margins). */
    double wanted = 17e9 * 5e9 / sqrt(18e9 * 5e9 * 17e9 * 6e9);
    assert_int_equal(a.n, many + 6000000000);
    assert_true(fabs(a.pearson - wanted) < 1e-12);
    assert_true(fabs(a.spearman - wanted) < 1e-12);
}

/* ---- against the definition ---- */

static const double *ranked;

static int by_value(const void *a, const void *b)
{
    const double x = ranked[*(const size_t *)a], y = ranked[*(const size_t *)b];
    return (x > y) - (x < y);
}

/* Ranks v[0..n); ties get their mean rank. */
static void rank(const double *v, double *ranks, size_t n)
{
    size_t *order = unit_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    ranked = v;
    qsort(order, n, sizeof *order, by_value);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && v[order[end]] == v[order[i]];)
            end++;
        for (size_t k = i; k < end; k++)
            ranks[order[k]] = (double)(i + 1 + end) / 2;
    }
}

static double correlation(const double *x, const double *y, size_t n)
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
    return xy / sqrt(xx * yy);
}

enum { N = 60000, CONTIGS = 3 };

static void check(const struct cov_agreement *a, const double *x, const double *y, size_t n)
{
    double *rx = unit_alloc(n * sizeof *rx), *ry = unit_alloc(n * sizeof *ry);
    rank(x, rx, n);
    rank(y, ry, n);
    assert_int_equal(a->n, n);
    assert_true(fabs(a->pearson - correlation(x, y, n)) < 1e-11);
    assert_true(fabs(a->spearman - correlation(rx, ry, n)) < 1e-11);
}

static float draw(struct cov_rng *rng, unsigned kinds)
{
    return (float)(kinds ? (double)cov_rng_below(rng, kinds) : cov_rng_double(rng) - 0.5);
}

/* Checks contigs of N pairs each, and their total. There are `kinds` distinct values (0: any
 * number). */
static void compare(unsigned kinds, size_t max_bytes, bool spills)
{
    struct cov_rng rng;
    struct cov_pairs pairs, total;
    struct cov_agreement a;
    static double x[N * CONTIGS], y[N * CONTIGS];
    cov_rng_init(&rng, kinds);
    assert_ok(cov_pairs_init(&pairs, max_bytes, "/tmp", &e));
    assert_ok(cov_pairs_init(&total, max_bytes, "/tmp", &e));
    for (size_t c = 0; c < CONTIGS; c++) {
        for (size_t i = c * N; i < (c + 1) * N; i++) {
            float v = draw(&rng, kinds), w = draw(&rng, kinds);
            x[i] = (double)v;
            y[i] = (double)(w += c == 1 ? v : 0);
            assert_ok(cov_pairs_add(&pairs, v, w, 1, &e));
        }
        assert_int_equal(pairs.runs.n > 1, spills);
        assert_ok(cov_pairs_finish(&pairs, &total, &a, &e));
        check(&a, x + c * N, y + c * N, N);
    }
    assert_int_equal(total.runs.n > 1, spills);
    /* The tables stay within the memory limit. */
    size_t bytes = max_bytes < 65536 ? 65536 : max_bytes;
    assert_true(total.cap * sizeof *total.table <= bytes);
    assert_true(pairs.cap * sizeof *pairs.table <= bytes);
    assert_ok(cov_pairs_finish(&total, NULL, &a, &e));
    assert_true(total.cap_room * sizeof *total.room <= bytes / 4 * 3);
    check(&a, x, y, N * CONTIGS);
    cov_pairs_fini(&pairs);
    cov_pairs_fini(&total);
}

TEST(matches_the_definition)
{
    compare(2, 0, false);
    compare(30, 0, false);
    compare(0, 1 << 24, false);
}

TEST(does_not_depend_on_memory)
{
    compare(0, 0, true);
    compare(1000, 0, true);
    compare(0, 300000, true);
}

TEST(reports_the_directory)
{
    struct cov_pairs p;
    struct cov_err e = COV_ERR_INIT;
    int rc = cov_pairs_init(&p, 0, "/tmp/cov-no-such-directory", &e);
    for (int i = 0; !rc && i < 10000; i++)
        rc = cov_pairs_add(&p, (float)i, 0, 1, &e);
    assert_true(rc < 0);
    assert_non_null(strstr(e.text, "/tmp/cov-no-such-directory"));
    cov_pairs_fini(&p);
}
