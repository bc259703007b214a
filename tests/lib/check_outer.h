/* check_outer.h - for tests: checks a table of sums of outer products against plain loops, and that
 * splitting a sum does not change a bit.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TESTS_CHECK_OUTER_H
#define COV_TESTS_CHECK_OUTER_H

#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/compute/cpu/kernels/operands.h"
#include "common/compute/cpu/kernels/outer.h"

/* Returns n random numbers, in memory of the test. */
static inline float *drawn(struct cov_rng *rng, size_t n)
{
    float *p = unit_alloc((n + 1) * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(cov_rng_double(rng) * 2 - 1);
    return p;
}

static inline double operand(const struct cov_outer *t, float v)
{
    return (double)(t->arithmetic == COV_BF16 ? cov_bf16_round(v) : v);
}

/* Checks one sum. The rows of matrix `a` overlap if lda < m. Memory between the rows of `c` must
 * not change. */
static inline void check_outer(struct cov_rng *rng, const struct cov_outer *t, size_t m, size_t n,
                               size_t k, size_t lda)
{
    const size_t mark = unit_mark();
    size_t ldb = n + cov_rng_below(rng, 3), ldc = n + cov_rng_below(rng, 3);
    float *a = drawn(rng, k * lda + m), *b = drawn(rng, k * ldb), *c = drawn(rng, m * ldc);
    float *split = unit_alloc((m * ldc + 1) * sizeof *split);
    double *want = unit_alloc((m * ldc + 1) * sizeof *want);
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
    unit_free_since(mark);
}

/* Checks sizes with every remainder of rows and columns. */
static inline void check_outer_sizes(struct cov_rng *rng, const struct cov_outer *t)
{
    for (size_t m = 1; m <= 34; m++)
        check_outer(rng, t, m, 1 + cov_rng_below(rng, 70), 1 + cov_rng_below(rng, 9),
                    m + cov_rng_below(rng, 5));
    for (size_t n = 1; n <= 66; n++)
        check_outer(rng, t, 1 + cov_rng_below(rng, 70), n, 1 + cov_rng_below(rng, 40), 71);
    check_outer(rng, t, 130, 290, 2 * COV_OUTER_DEPTH + 3, 40);
    check_outer(rng, t, 100, 32, COV_OUTER_DEPTH, 8);
}

#endif
