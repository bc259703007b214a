/* test_outer.c - compares sums of outer products at every level with plain loops. Splitting a sum
 * does not change a bit.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/rng.h"
#include "common/compute/cpu/kernels/bf16.h"
#include "common/compute/cpu/kernels/outer.h"

static const struct cov_outer *const tables[] = {
    &cov_outer_base,
#ifdef __x86_64__
    &cov_outer_avx2,          &cov_outer_avx512,   &cov_outer_avx512_inner,
    &cov_outer_avx512_shared, &cov_outer_dot_bf16,
#endif
};

static float *drawn(struct cov_rng *rng, size_t n)
{
    float *p = malloc((n + 1) * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(cov_rng_double(rng) * 2 - 1);
    return p;
}

static double operand(const struct cov_outer *t, float v)
{
    return (double)(t->arithmetic == COV_BF16 ? cov_bf16_round(v) : v);
}

/* Checks one sum. The rows of matrix `a` overlap if lda < m. Memory between the rows of `c` must
 * not change. */
static void check(struct cov_rng *rng, const struct cov_outer *t, size_t m, size_t n, size_t k,
                  size_t lda)
{
    size_t ldb = n + cov_rng_below(rng, 3), ldc = n + cov_rng_below(rng, 3);
    float *a = drawn(rng, k * lda + m), *b = drawn(rng, k * ldb), *c = drawn(rng, m * ldc);
    float *split = malloc((m * ldc + 1) * sizeof *split);
    double *want = malloc((m * ldc + 1) * sizeof *want);
    assert_true(split && want);
    memcpy(split, c, m * ldc * sizeof *c);
    for (size_t i = 0; i < m * ldc; i++) {
        want[i] = (double)c[i];
        for (size_t r = 0; i % ldc < n && r < k; r++)
            want[i] += operand(t, a[r * lda + i / ldc]) * operand(t, b[r * ldb + i % ldc]);
    }
    const struct cov_outer_rows next[2] = {{a, k, m, lda}, {b, k, n, ldb}};
    t->add(&(struct cov_outer_sum){m, n, k, a, lda, b, ldb, c, ldc}, next);
    for (size_t i = 0; i < m * ldc; i++)
        if (!(fabs((double)c[i] - want[i]) <= 2e-7 * (10 + (double)k)))
            fail_msg("%s, %zu x %zu over %zu: %g at %zu instead of %g", t->name, m, n, k,
                     (double)c[i], i, want[i]);
    size_t half_m = m / 2, half_n = n / 2;
    t->add(&(struct cov_outer_sum){half_m, n, k, a, lda, b, ldb, split, ldc}, NULL);
    t->add(&(struct cov_outer_sum){m - half_m, half_n, k, a + half_m, lda, b, ldb,
                                   split + half_m * ldc, ldc},
           NULL);
    t->add(&(struct cov_outer_sum){m - half_m, n - half_n, k, a + half_m, lda, b + half_n, ldb,
                                   split + half_m * ldc + half_n, ldc},
           next);
    assert_memory_equal(split, c, m * ldc * sizeof *c);
    free(a);
    free(b);
    free(c);
    free(split);
    free(want);
}

static void adds(void **state)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    for (size_t i = 0; i < COV_COUNT(tables); i++) {
        if (tables[i]->needs & ~cov_cpu_features()) {
            (void)printf("# %s: not on this CPU\n", tables[i]->name);
            continue;
        }
        for (size_t m = 1; m <= 27; m++)
            check(&rng, tables[i], m, 1 + cov_rng_below(&rng, 70), 1 + cov_rng_below(&rng, 9),
                  m + cov_rng_below(&rng, 5));
        for (size_t n = 1; n <= 66; n++)
            check(&rng, tables[i], 1 + cov_rng_below(&rng, 30), n, 1 + cov_rng_below(&rng, 20), 31);
        check(&rng, tables[i], 130, 140, 2 * COV_OUTER_DEPTH + 3, 40);
        check(&rng, tables[i], 100, 32, COV_OUTER_DEPTH, 8);
    }
}

/* Multiplies columns of both operands by powers of two: that changes no bit of the sums but their
 * exponents. */
static void scales_columns(void **state)
{
    enum { M = 40, N = 70, K = COV_OUTER_DEPTH + 7 };
    struct cov_rng rng;
    cov_rng_init(&rng, 4);
    for (size_t t = 0; t < COV_COUNT(tables); t++) {
        if (tables[t]->needs & ~cov_cpu_features())
            continue;
        float *a = drawn(&rng, K * M), *b = drawn(&rng, K * N), sums[2][M * N] = {{0}};
        tables[t]->add(&(struct cov_outer_sum){M, N, K, a, M, b, N, sums[0], N}, NULL);
        for (size_t i = 0; i < K * M; i++)
            a[i] = ldexpf(a[i], (int)(i % M) - 30);
        for (size_t i = 0; i < K * N; i++)
            b[i] = ldexpf(b[i], 20 - (int)(i % N));
        tables[t]->add(&(struct cov_outer_sum){M, N, K, a, M, b, N, sums[1], N}, NULL);
        for (size_t i = 0; i < M * N; i++)
            assert_true(sums[1][i] == ldexpf(sums[0][i], (int)(i / N) - 10 - (int)(i % N)));
        free(a);
        free(b);
    }
}

static void chooses(void **state)
{
    assert_ptr_equal(cov_outer_choose_for(0, COV_FP32, 64, 64), &cov_outer_base);
    assert_null(cov_outer_choose_for(0, COV_BF16, 64, 64));
#ifdef __x86_64__
    unsigned dot = cov_outer_avx512.needs | cov_outer_dot_bf16.needs;
    assert_ptr_equal(cov_outer_choose_for(dot, COV_FP32, 64, 64), &cov_outer_avx512);
    assert_ptr_equal(cov_outer_choose_for(dot, COV_BF16, 64, 64), &cov_outer_dot_bf16);
    unsigned zen4 = dot | cov_outer_avx512_inner.needs, zen5 = zen4 | cov_outer_avx512_shared.needs;
    assert_ptr_equal(cov_outer_choose_for(zen4, COV_FP32, 64, 64), &cov_outer_avx512_inner);
    assert_ptr_equal(cov_outer_choose_for(zen5, COV_FP32, 64, 64), &cov_outer_avx512_shared);
    assert_ptr_equal(cov_outer_choose_for(zen5, COV_FP32, 64, 63), &cov_outer_avx512);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adds), cmocka_unit_test(scales_columns),
                                       cmocka_unit_test(chooses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
