/* test_gemm_dot.c - the loops around VDPBF16PS on any CPU, with C code in place of the instruction.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "tests/lib/check_gemm.h"

static void dot(float *sums, const int32_t *a, const int32_t *b);
#define DOT(sums, a, b)                                                                            \
    ({                                                                                             \
        floats sums_ = (sums);                                                                     \
        bf16s a_ = (a), b_ = (b);                                                                  \
        dot((float *)&sums_, (const int32_t *)&a_, (const int32_t *)&b_);                          \
        sums_;                                                                                     \
    })
/* With optimisation, the copies of DOT take minutes to compile. */
#pragma GCC push_options
#pragma GCC optimize("O0")
#include "common/compute/cpu/kernels/gemm_dot_body.h"
#pragma GCC pop_options

/* Adds the second product of each pair first, like the instruction. */
static void dot(float *sums, const int32_t *a, const int32_t *b)
{
    for (int i = 0; i < DOT_LANES; i++) {
        uint32_t x = (uint32_t)a[i], y = (uint32_t)b[i];
        sums[i] += cov_bf16_float((uint16_t)(x >> 16)) * cov_bf16_float((uint16_t)(y >> 16));
        sums[i] += cov_bf16_float((uint16_t)x) * cov_bf16_float((uint16_t)y);
    }
}

TEST_WITH(multiplies, new_gemm_data, free_gemm_data)
{
    const struct cov_gemm gemm = {.name = "dot",
                                  .needs = 0,
                                  .lanes = PAIRS_LANES,
                                  .width = PAIRS_PANEL,
                                  .run = dot_bf16,
                                  .pack = cov_gemm_pack_pairs,
                                  .arithmetic = COV_BF16,
                                  .k_unit = DOT_UNIT};
    check_gemm(&gemm, *state);
}
