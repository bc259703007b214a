/* test_half.c - half precision: every bit pattern.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/half.h"

TEST(known_values)
{
    assert_true(cov_half_to_float(0x3c00) == 1.0F);
    assert_true(cov_half_to_float(0xc000) == -2.0F);
    assert_true(cov_half_to_float(0x3555) == 0.333251953125F);
    assert_true(cov_half_to_float(0x7bff) == 65504.0F);
    assert_true(cov_half_to_float(0x0400) == 0x1p-14F);
    assert_true(cov_half_to_float(0x03ff) == 0x1p-14F - 0x1p-24F);
    assert_true(cov_half_to_float(0x0001) == 0x1p-24F);
    assert_true(cov_half_to_float(0x0000) == 0 && !signbit(cov_half_to_float(0x0000)));
    assert_true(cov_half_to_float(0x8000) == 0 && signbit(cov_half_to_float(0x8000)));
    assert_true(cov_half_to_float(0x7c00) == INFINITY);
    assert_true(cov_half_to_float(0xfc00) == -INFINITY);
}

/* Numbers of one sign ascend with their bit patterns, in steps that are equal within a binade. */
TEST(all_patterns)
{
    for (unsigned bits = 0; bits < 0x8000; bits++) {
        float x = cov_half_to_float((uint16_t)bits);
        if (bits > 0x7c00) {
            assert_true(isnan(x));
            assert_true(isnan(cov_half_to_float((uint16_t)(bits | 0x8000))));
            continue;
        }
        assert_true(cov_half_to_float((uint16_t)(bits | 0x8000)) == -x);
        if (bits > 0 && bits < 0x7c00) {
            int exponent = (int)(bits - 1) >> 10;
            float step = ldexpf(1, (exponent > 0 ? exponent : 1) - 25);
            assert_true(x - cov_half_to_float((uint16_t)(bits - 1)) == step);
        }
    }
}
