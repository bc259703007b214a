/* test_signal_values.c - elements to values.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "common/base/rng.h"
#include "common/store/signal_values.h"

/* Columns of all places and numbers, over tiles. */
static void takes_means(void **state)
{
    (void)state;
    enum { N = 700, MOST = 7 };
    static int32_t elems[N * MOST];
    static float values[N + 1];
    const struct cov_h5_type type = {COV_H5_INT, sizeof elems[0], true, false, 0};
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (size_t i = 0; i < N * MOST; i++)
        elems[i] = (int32_t)cov_rng_below(&rng, 1000);
    for (size_t n_all = 1; n_all <= MOST; n_all++)
        for (size_t col = 0; col < n_all; col++)
            for (size_t n_cols = 1; col + n_cols <= n_all; n_cols++) {
                values[N] = -7;
                assert_int_equal(
                    cov_signal_values(&type, (const uint8_t *)elems, N, n_all, col, n_cols, values),
                    N);
                for (size_t t = 0; t < N; t++) {
                    double sum = 0;
                    for (size_t c = col; c < col + n_cols; c++)
                        sum += elems[t * n_all + c];
                    assert_true(values[t] == (float)(sum / (double)n_cols));
                }
                assert_true(values[N] == -7);
            }
}

static void finds_what_is_no_coverage(void **state)
{
    (void)state;
    enum { N = 600 };
    static const float bad[] = {-1, -1e-30F, INFINITY, -INFINITY, NAN};
    static float elems[N], values[N];
    const struct cov_h5_type type = {COV_H5_FLOAT, sizeof elems[0], true, false, 0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t at = 1 + i * 149;
        elems[at] = bad[i];
        assert_int_equal(cov_signal_values(&type, (const uint8_t *)elems, N, 1, 0, 1, values), at);
        assert_int_equal(cov_signal_values(&type, (const uint8_t *)elems, at, 1, 0, 1, values), at);
        elems[at] = 0;
    }
}

static void knows_names(void **state)
{
    (void)state;
    assert_int_equal(cov_signal_prefix("atacseq_coverage"), 7);
    assert_int_equal(cov_signal_prefix("a_coverage_coverage"), 10);
    assert_int_equal(cov_signal_prefix("_coverage"), 0);
    assert_int_equal(cov_signal_prefix("atacseq_spliced_coverage"), 0);
    assert_int_equal(cov_signal_prefix("_spliced_coverage"), 8);
    assert_int_equal(cov_signal_prefix("atacseq_meta"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_means),
        cmocka_unit_test(finds_what_is_no_coverage),
        cmocka_unit_test(knows_names),
    };
    return cmocka_run_group_tests_name("signal_values", tests, NULL, NULL);
}
