/* test_profile_tracks.c - numbers of the matrix are those of printf's "%f".
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/job/profile/profile_tracks.h"

static void check(double x)
{
    char wanted[COV_PROFILE_VALUE_BYTES], got[COV_PROFILE_VALUE_BYTES];
    (void)snprintf(wanted, sizeof wanted, "%f", x);
    got[cov_profile_matrix_put(x, got)] = '\0';
    assert_string_equal(got, wanted);
}

TEST(numbers)
{
    static const double some[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.5,
                                  1e-7,
                                  5e-7,
                                  -5e-7,
                                  1.5e-6,
                                  0.0000005,
                                  2.5,
                                  1e6,
                                  7999999.9999995,
                                  8e6,
                                  8000001.5,
                                  1e15,
                                  1e300,
                                  -1e22,
                                  -1e-9,
                                  123456.7890125};
    for (size_t i = 0; i < COV_COUNT(some); i++)
        check(some[i]);
    check((double)INFINITY);
    char got[COV_PROFILE_VALUE_BYTES];
    assert_int_equal(cov_profile_matrix_put((double)NAN, got), 3);
    assert_memory_equal(got, "nan", 3);
}

/* Halves of the last digit, and their neighbours, at all sizes. */
TEST(rounding)
{
    for (int exponent = -6; exponent < 9; exponent++) {
        const double power = pow(10, exponent);
        for (int i = 0; i < 3000; i++) {
            const double x = (i * 7919 % 100003) * power / 1e5 + 0.5e-6;
            check(x);
            check(nextafter(x, 0));
            check(-nextafter(x, 1e300));
            check(i / 7.0 * power);
        }
    }
}
