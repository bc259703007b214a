/* test_gemm.c - matrix products of every instruction set and arithmetic.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/lib/check_gemm.h"

static const struct cov_gemm *const tables[] = {
    &cov_gemm_base,        &cov_gemm_base_bf16,     &cov_gemm_base_bf16x3,
#ifdef __x86_64__
    &cov_gemm_avx2,        &cov_gemm_avx2_bf16,     &cov_gemm_avx2_bf16x3, &cov_gemm_avx512,
    &cov_gemm_avx512_bf16, &cov_gemm_avx512_bf16x3, &cov_gemm_dot_bf16,    &cov_gemm_dot_bf16x3,
    &cov_gemm_amx_bf16,    &cov_gemm_amx_bf16x3,    &cov_gemm_dot_int16,
#endif
};

static void multiplies(void **state)
{
    for (size_t t = 0; t < COV_COUNT(tables); t++)
        check_gemm(tables[t], *state);
}

/* To nearest even, against the neighbours in double; what is no number. */
static void rounds(void **state)
{
    (void)state;
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
            if (upper > 0x1000) /* what is left is no denormal */
                assert_true(fabs((double)v - (double)want - (double)cov_bf16_low(v)) <=
                            ldexp(fabs((double)v), -16));
        }
    }
    assert_true(isinf(cov_bf16_round(INFINITY)) && isinf(cov_bf16_round(3.4e38f)));
    assert_true(cov_bf16_round(-INFINITY) < 0 && isnan(cov_bf16_round(NAN)));
    uint32_t bits = 0x7f800001; /* a NaN whose upper half is infinity's */
    float v;
    memcpy(&v, &bits, sizeof v);
    assert_true(isnan(cov_bf16_round(v)));
}

/* What is chosen is the best that the features allow. */
static void chooses(void **state)
{
    (void)state;
    assert_ptr_equal(cov_gemm_choose(0), &cov_gemm_base);
    assert_ptr_equal(cov_gemm_choose_emulated(0, COV_BF16X3), &cov_gemm_base_bf16x3);
    assert_null(cov_gemm_choose_bf16(0, COV_BF16));
#ifdef __x86_64__
    unsigned avx2 = COV_CPU_AVX2 | COV_CPU_FMA, avx512 = avx2 | cov_gemm_avx512.needs;
    unsigned dot = avx512 | cov_gemm_dot_bf16.needs, amx = dot | cov_gemm_amx_bf16.needs;
    assert_ptr_equal(cov_gemm_choose(avx2), &cov_gemm_avx2);
    assert_ptr_equal(cov_gemm_choose(amx), &cov_gemm_avx512);
    assert_ptr_equal(cov_gemm_choose_emulated(amx, COV_BF16), &cov_gemm_avx512_bf16);
    assert_null(cov_gemm_choose_bf16(avx512, COV_BF16));
    assert_ptr_equal(cov_gemm_choose_bf16(dot, COV_BF16X3), &cov_gemm_dot_bf16x3);
    assert_ptr_equal(cov_gemm_choose_bf16(amx, COV_BF16), &cov_gemm_amx_bf16);
    assert_null(cov_gemm_choose_bf16(dot, COV_INT16));
    assert_ptr_equal(cov_gemm_choose_bf16(dot | COV_CPU_AVX512_VNNI, COV_INT16),
                     &cov_gemm_dot_int16);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(multiplies, new_gemm_data, free_gemm_data),
        cmocka_unit_test(rounds),
        cmocka_unit_test(chooses),
    };
    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
