/* test_h5_retype.c - elements of one type as another.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/store/h5_retype.h"

static struct cov_h5_type int_type(size_t bytes, bool is_signed)
{
    return (struct cov_h5_type){COV_H5_INT, bytes, is_signed, false, '\0'};
}

static struct cov_h5_type float_type(size_t bytes)
{
    return (struct cov_h5_type){COV_H5_FLOAT, bytes, true, false, '\0'};
}

/* All integer types: the edges of each, into each. */
static void test_integers(void **state)
{
    (void)state;
    static const int64_t values[] = {0,          1,          -1,          127,         128,
                                     -128,       -129,       255,         256,         32767,
                                     32768,      -32768,     -32769,      65535,       65536,
                                     2147483647, 2147483648, -2147483648, -2147483649, 4294967295,
                                     4294967296, INT64_MAX,  INT64_MIN};
    const struct cov_h5_type wide = int_type(8, true);
    for (size_t i = 0; i < COV_COUNT(values); i++)
        for (size_t bytes = 1; bytes <= 8; bytes *= 2)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                const struct cov_h5_type t = int_type(bytes, is_signed);
                int64_t v = values[i], back = 77;
                uint8_t x[8] = {0};
                int64_t most =
                    bytes == 8 ? INT64_MAX : ((int64_t)1 << (8 * bytes - (size_t)is_signed)) - 1;
                int64_t least = !is_signed ? 0 : bytes == 8 ? INT64_MIN : -most - 1;
                bool fits = v >= least && v <= most;
                assert_int_equal(cov_h5_retype(&wide, &v, 1, &t, x), fits);
                if (!fits)
                    continue;
                assert_int_equal(cov_h5_retype(&t, x, 1, &wide, &back), 1);
                assert_int_equal(back, v);
            }
    const uint64_t most = UINT64_MAX;
    const struct cov_h5_type u = int_type(8, false);
    int64_t to;
    assert_int_equal(cov_h5_retype(&u, &most, 1, &wide, &to), 0);
}

static void test_floats(void **state)
{
    (void)state;
    const struct cov_h5_type i32 = int_type(4, true), i64 = int_type(8, true), f32 = float_type(4),
                             f64 = float_type(8), f16 = float_type(2), u8 = int_type(1, false);
    const int32_t whole[] = {0, -1, 16777216, 16777217};
    float f[4];
    assert_int_equal(cov_h5_retype(&i32, whole, 4, &f32, f), 3);
    assert_true(f[1] == -1.0F && f[2] == 16777216.0F);
    const float some[] = {3.0F, -0.0F, 2.5F};
    int32_t n[3];
    assert_int_equal(cov_h5_retype(&f32, some, 3, &i32, n), 2);
    assert_int_equal(n[0], 3);
    assert_int_equal(n[1], 0);
    const double wrong[] = {9223372036854775808.0, -9223372036854777856.0, (double)NAN,
                            (double)INFINITY, 1e300};
    for (size_t i = 0; i < COV_COUNT(wrong); i++) {
        int64_t to;
        assert_int_equal(cov_h5_retype(&f64, &wrong[i], 1, &i64, &to), 0);
    }
    const double edge = -9223372036854775808.0, fine[] = {0.5, (double)NAN, -(double)INFINITY};
    int64_t to;
    assert_int_equal(cov_h5_retype(&f64, &edge, 1, &i64, &to), 1);
    assert_true(to == INT64_MIN);
    assert_int_equal(cov_h5_retype(&f64, fine, 3, &f32, f), 3);
    assert_true(f[0] == 0.5F && isnan(f[1]) && isinf(f[2]));
    const double between = 0.1, large = 1e39;
    assert_int_equal(cov_h5_retype(&f64, &between, 1, &f32, f), 0);
    assert_int_equal(cov_h5_retype(&f64, &large, 1, &f32, f), 0);
    const uint16_t half = 0x5640; /* 100 */
    uint8_t byte;
    assert_int_equal(cov_h5_retype(&f16, &half, 1, &u8, &byte), 1);
    assert_int_equal(byte, 100);
    const int64_t most = INT64_MAX;
    double d;
    assert_int_equal(cov_h5_retype(&i64, &most, 1, &f64, &d), 0);
}

static void test_text(void **state)
{
    (void)state;
    const struct cov_h5_type i64 = int_type(8, true), u64 = int_type(8, false), f32 = float_type(4);
    const int64_t least = INT64_MIN;
    const uint64_t most = UINT64_MAX;
    const float f = 2.5F;
    char text[64];
    cov_h5_print_element(&i64, &least, text, sizeof text);
    assert_string_equal(text, "-9223372036854775808");
    cov_h5_print_element(&u64, &most, text, sizeof text);
    assert_string_equal(text, "18446744073709551615");
    cov_h5_print_element(&f32, &f, text, sizeof text);
    assert_string_equal(text, "2.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
