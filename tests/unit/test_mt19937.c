/* test_mt19937.c - compares generator states with those of NumPy and Python.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/ckpt/mt19937.h"

/* Compares the first words and the sum of all words after numpy.random.seed(5) and
 * random.seed(5). */
TEST(test_states)
{
    uint32_t words[COV_MT19937_N], sum = 0;
    cov_mt19937_seed(5, words);
    assert_int_equal(words[0], 5);
    assert_int_equal(words[1], 472231674);
    assert_int_equal(words[2], 2253902500);
    for (int i = 0; i < COV_MT19937_N; i++)
        sum += words[i];
    assert_int_equal(sum, 553628747);
    cov_mt19937_seed_array(5, words);
    assert_int_equal(words[0], 2147483648);
    assert_int_equal(words[1], 2796186638);
    sum = 0;
    for (int i = 0; i < COV_MT19937_N; i++)
        sum += words[i];
    assert_int_equal(sum, 4287299787);
}
