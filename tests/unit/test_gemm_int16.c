/* test_gemm_int16.c - the loops around VPDPWSSD on any CPU, with C code in place of the
 * instruction; extreme values.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "tests/lib/check_gemm.h"

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

static const struct cov_gemm table = {.name = "16-bit integers",
                                      .lanes = INT16_LANES,
                                      .width = INT16_PANEL,
                                      .run = run_int16,
                                      .pack = cov_gemm_pack_int16,
                                      .arithmetic = COV_INT16,
                                      .k_unit = INT16_UNIT,
                                      .prepared_floats = prepared_floats,
                                      .prepare = prepare,
                                      .run_prepared = run_prepared};

TEST_WITH(multiplies, new_gemm_data, free_gemm_data)
{
    check_gemm(&table, *state);
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
        assert_ok(cov_matrix_init(&table, K, 1, b, &m, &e));
        run_int16(1, a, K, &m, &c, 1, false);
        assert_true(fabs((double)c - want) <= 1e-3 * 3e-5 * K);
        cov_matrix_fini(&m);
    }
    b[0] = 1; /* the other values are small compared to it */
    assert_ok(cov_matrix_init(&table, 16, 1, b, &m, &e));
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
