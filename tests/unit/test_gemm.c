/* test_gemm.c - matrix products of every instruction set and arithmetic.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "tests/lib/check_gemm.h"

/* The loops around VPDPWSSD, with C code in place of the instruction. */
static void dot(int32_t *sums, const int32_t *a, const int32_t *b);
#define DOT(sums, a, b)                                                                            \
    do {                                                                                           \
        int32s a_ = (a), b_ = (b);                                                                 \
        dot((int32_t *)&(sums), (const int32_t *)&a_, (const int32_t *)&b_);                       \
    } while (0)
#define EVERY_PAIR(p) ((int32s){0} + *(const int32_t *)(const void *)(p))
#define PAIRS_AT(p) (*(p))
/* With optimisation, the copies of DOT take minutes to compile. */
#pragma GCC push_options
#pragma GCC optimize("O0")
#include "common/compute/cpu/kernels/gemm_int16_body.h"
#pragma GCC pop_options

static void dot(int32_t *sums, const int32_t *a, const int32_t *b)
{
    for (int i = 0; i < INT16_LANES; i++) {
        int64_t sum = (int64_t)sums[i] + (int64_t)(int16_t)a[i] * (int16_t)b[i] +
                      (int64_t)(int16_t)(a[i] >> 16) * (int16_t)(b[i] >> 16);
        sums[i] = (int32_t)(uint32_t)(uint64_t)sum;
    }
}

static const struct cov_gemm int16_in_c = {.name = "16-bit integers in C",
                                           .lanes = INT16_LANES,
                                           .width = INT16_PANEL,
                                           .run = run_int16,
                                           .pack = cov_gemm_pack_int16,
                                           .arithmetic = COV_INT16,
                                           .k_unit = INT16_UNIT,
                                           .prepared_floats = prepared_floats,
                                           .prepare = prepare,
                                           .run_prepared = run_prepared};

static const struct cov_gemm *const tables[] = {
    &cov_gemm_base,     &int16_in_c,
#ifdef __x86_64__
    &cov_gemm_avx2,     &cov_gemm_avx512,     &cov_gemm_avx512_inner, &cov_gemm_avx512_shared,
    &cov_gemm_amx_bf16, &cov_gemm_amx_bf16x3, &cov_gemm_dot_int16,
#endif
};

TEST_WITH(multiplies, new_gemm_data, free_gemm_data)
{
    for (size_t t = 0; t < COV_COUNT(tables); t++)
        check_gemm(tables[t], *state);
}

/* Rows and columns have very different magnitudes, and the error is relative to the magnitudes of
 * the row and the column. Includes a row of zeros, and rows too long to be prepared. */
TEST_WITH(scales_rows_and_columns, new_gemm_data, free_gemm_data)
{
    enum { M = 13, N = 40, SHORT = 130, LONG = 14100 };
    struct gemm_data *d = *state;
    for (size_t t = 0; t < COV_COUNT(tables); t++) {
        const struct cov_gemm *gemm = tables[t];
        if (gemm->arithmetic != COV_FP32 || (gemm->needs & ~cov_cpu_features()))
            continue;
        for (size_t k = SHORT; k <= LONG; k += LONG - SHORT) {
            size_t m = k == SHORT ? M : 2, n = k == SHORT ? N : 5;
            float *a = d->a, *b = d->b;
            for (size_t r = 0; r < m; r++)
                for (size_t i = r * k; i < (r + 1) * k; i++)
                    a[i] = d->before[i % COV_COUNT(d->before)] *
                           (r == 3 ? 0 : (float)exp2(7 * (double)r - 40));
            for (size_t i = 0; i < k * n; i++)
                b[i] = d->before[i * 7 % COV_COUNT(d->before)] * (float)exp2(20 - (double)(i % n));
            struct cov_matrix packed;
            assert_ok(cov_matrix_init(gemm, k, n, b, &packed, &e));
            gemm->run(m, a, k, &packed, d->c, n, false);
            for (size_t r = 0; r < m; r++)
                for (size_t j = 0; j < n; j++) {
                    double sum = 0, rows = 0, columns = 0;
                    for (size_t i = 0; i < k; i++) {
                        double left = (double)a[r * k + i], right = (double)b[i * n + j];
                        sum += left * right;
                        rows += left * left;
                        columns += right * right;
                    }
                    /* Scales of rows are limited to 2^-60. */
                    double bound = 1e-6 * sqrt(fmax(rows, exp2(-120)) * columns);
                    double error = fabs((double)d->c[r * n + j] - sum);
                    if (!(error <= bound))
                        fail_msg("%s: %zu deep: [%zu,%zu] is off by %g, not %g", gemm->name, k, r,
                                 j, error, bound);
                }
            cov_matrix_fini(&packed);
        }
    }
}

#ifdef __x86_64__
/* Returns the root mean square error of the product a[m,k] b[k,n]. */
static double error_of(const struct cov_gemm *gemm, struct gemm_data *d, size_t m, size_t n,
                       size_t k)
{
    struct cov_matrix b;
    double squares = 0;
    assert_ok(cov_matrix_init(gemm, k, n, d->b, &b, &e));
    gemm->run(m, d->a, k, &b, d->c, n, false);
    for (size_t r = 0; r < m; r++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t i = 0; i < k; i++)
                sum += (double)d->a[r * k + i] * (double)d->b[i * n + j];
            squares += ((double)d->c[r * n + j] - sum) * ((double)d->c[r * n + j] - sum);
        }
    cov_matrix_fini(&b);
    return sqrt(squares / (double)(m * n));
}

/* Pairs of products that share a multiplication are about as exact as plain products. The test
 * varies the magnitudes of rows and columns between two powers of two. */
TEST_WITH(pairs_are_about_as_exact, new_gemm_data, free_gemm_data)
{
    enum { K = 400, STEPS = 4 };
    struct gemm_data *d = *state;
    if ((cov_gemm_avx512_inner.needs | cov_gemm_avx512.needs) & ~cov_cpu_features()) {
        (void)printf("# %s: not on this CPU\n", cov_gemm_avx512_inner.name);
        return;
    }
    float step = (float)exp2(1.0 / STEPS);
    for (size_t i = 0; i <= STEPS; i++) {
        for (size_t j = 0; j <= STEPS; j++) {
            double ratio = error_of(&cov_gemm_avx512_inner, d, MAX_M, MAX_N, K) /
                           error_of(&cov_gemm_avx512, d, MAX_M, MAX_N, K);
            if (!(ratio < 1.25))
                fail_msg("sizes %zu and %zu quarters of a power of two up: %g times the error", i,
                         j, ratio);
            for (size_t at = 0; at < K * MAX_N; at++)
                d->b[at] *= step;
        }
        for (size_t at = 0; at < K * MAX_M; at++)
            d->a[at] *= step;
    }
}
#endif

/* Rounds to the nearer neighbour, to even in ties, as computed in double. Includes NaN and
 * infinity. */
TEST(rounds_to_nearest_even)
{
    for (uint32_t upper = 0; upper < 0x7f7f; upper++) {
        float at = cov_bf16_float((uint16_t)upper), next = cov_bf16_float((uint16_t)(upper + 1));
        static const uint32_t rests[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
        for (size_t i = 0; i < COV_COUNT(rests); i++) {
            uint32_t bits = upper << 16 | rests[i];
            float v;
            memcpy(&v, &bits, sizeof v);
            double to_at = (double)v - (double)at, to_next = (double)next - (double)v;
            float want = to_at < to_next || (to_at == to_next && upper % 2 == 0) ? at : next;
            assert_true(cov_bf16_round(v) == want && cov_bf16_round(-v) == -want);
            if (upper > 0x1000) /* the rest is not denormal */
                assert_true(fabs((double)v - (double)want - (double)cov_bf16_low(v)) <=
                            ldexp(fabs((double)v), -16));
        }
    }
    assert_true(isinf(cov_bf16_round(INFINITY)) && isinf(cov_bf16_round(3.4e38f)));
    assert_true(cov_bf16_round(-INFINITY) < 0 && isnan(cov_bf16_round(NAN)));
    uint32_t bits = 0x7f800001; /* a NaN with the same upper half as infinity */
    float v;
    memcpy(&v, &bits, sizeof v);
    assert_true(isnan(cov_bf16_round(v)));
}

/* The largest possible sums; a row longer than the part that is prepared at once; rows that are
 * zero, nearly zero, infinite or NaN. */
TEST(holds_limits)
{
    enum { K = INT16_DEPTH + 300 };
    static float a[K], b[K];
    struct cov_matrix m;
    float c;
    for (int alternate = 0; alternate < 2; alternate++) {
        double want = 0;
        for (size_t i = 0; i < K; i++) {
            a[i] = 1;
            b[i] = alternate && i % 2 ? -3e-5f : 3e-5f;
            want += (double)a[i] * (double)b[i];
        }
        assert_ok(cov_matrix_init(&int16_in_c, K, 1, b, &m, &e));
        run_int16(1, a, K, &m, &c, 1, false);
        assert_true(fabs((double)c - want) <= 1e-3 * 3e-5 * K);
        cov_matrix_fini(&m);
    }
    b[0] = 1; /* the other values are small compared to it */
    assert_ok(cov_matrix_init(&int16_in_c, 16, 1, b, &m, &e));
    static const float rows[] = {0, 1e-35f, INFINITY, NAN};
    for (size_t i = 0; i < COV_COUNT(rows); i++) {
        a[0] = a[1] = 0;
        a[2] = rows[i];
        for (size_t k = 3; k < 16; k++)
            a[k] = 0;
        run_int16(1, a, 16, &m, &c, 1, false);
        assert_true(i < 2 ? fabsf(c) < 1e-35f : !isfinite(c));
    }
    cov_matrix_fini(&m);
}

/* Chooses the best table for the CPU's features. */
TEST(chooses_the_best)
{
    assert_ptr_equal(cov_gemm_choose(0, COV_FP32, 0, 0), &cov_gemm_base);
    assert_null(cov_gemm_choose(0, COV_BF16, 0, 0));
#ifdef __x86_64__
    unsigned avx2 = COV_CPU_AVX2 | COV_CPU_FMA, avx512 = avx2 | cov_gemm_avx512.needs;
    unsigned dot = avx512 | COV_CPU_AVX512BW | COV_CPU_AVX512VL | COV_CPU_AVX512_BF16;
    unsigned amx = dot | cov_gemm_amx_bf16.needs;
    assert_ptr_equal(cov_gemm_choose(avx2, COV_FP32, 0, 0), &cov_gemm_avx2);
    assert_ptr_equal(cov_gemm_choose(amx, COV_FP32, 0, 0), &cov_gemm_avx512);
    unsigned adders = dot | COV_CPU_ADDERS;
    assert_ptr_equal(cov_gemm_choose(adders, COV_FP32, 0, 0), &cov_gemm_avx512);
    assert_ptr_equal(cov_gemm_choose(adders, COV_FP32, 64, 64), &cov_gemm_avx512_inner);
    assert_ptr_equal(cov_gemm_choose(adders | COV_CPU_FREE_LANES, COV_FP32, 64, 64),
                     &cov_gemm_avx512_shared);
    assert_ptr_equal(cov_gemm_choose(adders, COV_FP32, 63, 64), &cov_gemm_avx512);
    assert_ptr_equal(cov_gemm_choose(adders, COV_FP32, 64, 63), &cov_gemm_avx512);
    assert_ptr_equal(cov_gemm_choose(amx, COV_FP32, 64, 64), &cov_gemm_avx512);
    assert_null(cov_gemm_choose(avx512, COV_BF16, 0, 0));
    assert_null(cov_gemm_choose(dot, COV_BF16, 0, 0));
    assert_null(cov_gemm_choose(dot, COV_BF16X3, 0, 0));
    assert_ptr_equal(cov_gemm_choose(amx, COV_BF16, 0, 0), &cov_gemm_amx_bf16);
    assert_null(cov_gemm_choose(dot, COV_INT16, 0, 0));
    assert_ptr_equal(cov_gemm_choose(dot | COV_CPU_AVX512_VNNI, COV_INT16, 0, 0),
                     &cov_gemm_dot_int16);
#endif
}
