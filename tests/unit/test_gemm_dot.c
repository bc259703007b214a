/* test_gemm_dot.c - the loops around VDPBF16PS on any CPU, with C in its place.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/lib/check_gemm.h"

/* The pair's second product is added first, as the instruction does. */
#define DOT(sums, a, b) dot((sums), (a), (b))
static inline float dot_one(float sum, int32_t a, int32_t b)
{
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    sum += cov_bf16_float((uint16_t)(x >> 16)) * cov_bf16_float((uint16_t)(y >> 16));
    return sum + cov_bf16_float((uint16_t)x) * cov_bf16_float((uint16_t)y);
}
#define dot(sums, a, b)                                                                            \
    ({                                                                                             \
        floats out_;                                                                               \
        bf16s a_ = (a), b_ = (b);                                                                  \
        for (int i_ = 0; i_ < DOT_LANES; i_++)                                                     \
            out_[i_] = dot_one((sums)[i_], a_[i_], b_[i_]);                                        \
        out_;                                                                                      \
    })
#include "common/compute/cpu/gemm_dot_body.h"

static void multiplies(void **state)
{
    const struct cov_gemm one = {"dot", 0, PAIRS_LANES, PAIRS_PANEL, dot_bf16, COV_BF16, DOT_UNIT};
    const struct cov_gemm three = {"dot x3",   0,          PAIRS_LANES, PAIRS_PANEL,
                                   dot_bf16x3, COV_BF16X3, DOT_UNIT};
    check_gemm(&one, *state);
    check_gemm(&three, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(multiplies, new_gemm_data, free_gemm_data),
    };
    return cmocka_run_group_tests_name("gemm_dot", tests, NULL, NULL);
}
