/* test_outer.c - compares sums of outer products at every level with plain loops. Splitting a sum
 * does not change a bit.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/cpu.h"
#include "tests/lib/check_outer.h"

static const struct cov_outer *const tables[] = {
    &cov_outer_base,
#ifdef __x86_64__
    &cov_outer_avx2,          &cov_outer_avx512,   &cov_outer_avx512_inner,
    &cov_outer_avx512_shared, &cov_outer_dot_bf16, &cov_outer_amx_bf16,
#endif
};

/* Returns true if this CPU has the instructions of a table. */
static bool can_use(const struct cov_outer *t)
{
    bool amx = t->needs & COV_CPU_AMX_TILE;
    return (t->needs & ~cov_cpu_features()) == 0 && (!amx || cov_cpu_permit_amx());
}

TEST(adds)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    for (size_t i = 0; i < COV_COUNT(tables); i++)
        if (can_use(tables[i]))
            check_outer_sizes(&rng, tables[i]);
        else
            (void)printf("# %s: not on this CPU\n", tables[i]->name);
}

/* Multiplies columns of both operands by powers of two: that changes no bit of the sums but their
 * exponents. */
TEST(scales_columns)
{
    enum { M = 40, N = 70, K = COV_OUTER_DEPTH + 7 };
    struct cov_rng rng;
    cov_rng_init(&rng, 4);
    for (size_t t = 0; t < COV_COUNT(tables); t++) {
        if (!can_use(tables[t]))
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
    }
}

TEST(chooses)
{
    assert_ptr_equal(cov_outer_choose(0, COV_FP32, 64, 64), &cov_outer_base);
    assert_null(cov_outer_choose(0, COV_BF16, 64, 64));
#ifdef __x86_64__
    unsigned dot = cov_outer_avx512.needs | cov_outer_dot_bf16.needs;
    assert_ptr_equal(cov_outer_choose(dot, COV_FP32, 64, 64), &cov_outer_avx512);
    assert_ptr_equal(cov_outer_choose(dot, COV_BF16, 64, 64), &cov_outer_dot_bf16);
    unsigned amx = dot | cov_outer_amx_bf16.needs;
    assert_ptr_equal(cov_outer_choose(amx, COV_BF16, 64, 64), &cov_outer_amx_bf16);
    unsigned zen4 = dot | cov_outer_avx512_inner.needs, zen5 = zen4 | cov_outer_avx512_shared.needs;
    assert_ptr_equal(cov_outer_choose(zen4, COV_FP32, 64, 64), &cov_outer_avx512_inner);
    assert_ptr_equal(cov_outer_choose(zen5, COV_FP32, 64, 64), &cov_outer_avx512_shared);
    assert_ptr_equal(cov_outer_choose(zen5, COV_FP32, 64, 63), &cov_outer_avx512);
#endif
}
