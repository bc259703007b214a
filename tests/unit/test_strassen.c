/* test_strassen.c - compares products of pairs of rows with sums in double. Tests every remainder
 * of columns and pairs, and pairs of a single row. A result does not depend on the other pairs.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/rng.h"
#include "common/compute/cpu/layers/strassen.h"

enum { MAX_PAIRS = 150, MAX_K = 200, MAX_N = 300, GAP = 3 };

struct data {
    float a[2 * MAX_PAIRS * MAX_K], b[MAX_K * MAX_N];
    float c[2 * MAX_PAIRS * (MAX_N + GAP)], alone[2 * (MAX_N + GAP)];
};

#define SENTINEL 12345.0f

static int new_data(void **state)
{
    struct data *d = *state = calloc(1, sizeof *d);
    struct cov_rng rng;
    cov_rng_init(&rng, 71);
    for (size_t i = 0; d && i < sizeof *d / sizeof(float); i++)
        ((float *)d)[i] = (float)cov_rng_double(&rng) * 2 - 1;
    return !d;
}

static int free_data(void **state)
{
    free(*state);
    return 0;
}

static void check_row(const struct data *d, const float *a, size_t k, size_t n, const float *c)
{
    for (size_t j = 0; j < n; j++) {
        double sum = 0, size = 0;
        for (size_t i = 0; i < k; i++) {
            sum += (double)a[i] * (double)d->b[i * n + j];
            size += fabs((double)a[i] * (double)d->b[i * n + j]);
        }
        assert_true(fabs((double)c[j] - sum) <= 3e-7 * (size + 1));
    }
    for (size_t j = n; j < n + GAP; j++)
        assert_true(c[j] == SENTINEL);
}

static void check(struct data *d, size_t n_pairs, size_t k, size_t n)
{
    unsigned features = cov_cpu_features();
    struct cov_strassen_pair pairs[MAX_PAIRS];
    struct cov_strassen *f;
    assert_true(cov_strassen_pays(cov_gemm_choose(features), k, n));
    assert_int_equal(
        cov_strassen_new(cov_gemm_choose(features), cov_vec_choose(features), k, n, d->b, &f, NULL),
        0);
    float *scratch = calloc(cov_strassen_scratch(f), sizeof *scratch);
    assert_non_null(scratch);
    for (size_t i = 0; i < COV_COUNT(d->c); i++)
        d->c[i] = SENTINEL;
    for (size_t i = 0; i < n_pairs; i++) {
        bool lone = i % 3 == 2; /* a row paired with itself */
        float *c = d->c + 2 * i * (n + GAP);
        const float *a = d->a + 2 * i * k;
        pairs[i] =
            (struct cov_strassen_pair){{a, lone ? a : a + k}, {c, lone ? NULL : c + n + GAP}};
    }
    cov_strassen_run(f, n_pairs, pairs, scratch);
    for (size_t i = 0; i < n_pairs; i++) {
        struct cov_strassen_pair pair = pairs[i];
        check_row(d, pair.a[0], k, n, pair.c[0]);
        if (pair.c[1])
            check_row(d, pair.a[1], k, n, pair.c[1]);
        pair.c[0] = d->alone;
        pair.c[1] = pair.c[1] ? d->alone + n : NULL;
        cov_strassen_run(f, 1, &pair, scratch);
        for (size_t r = 0; r < 2 && pair.c[r]; r++)
            assert_memory_equal(pair.c[r], pairs[i].c[r], n * sizeof(float));
    }
    free(scratch);
    cov_strassen_free(f);
}

static void multiplies_pairs(void **state)
{
    for (size_t n_pairs = 1; n_pairs <= 26; n_pairs++)
        check(*state, n_pairs, 64 + n_pairs % 5 * 2, 64 + n_pairs * 2);
    check(*state, MAX_PAIRS, 64, 66);
    check(*state, 73, 102, 64);
    check(*state, 5, MAX_K, MAX_N);
    for (size_t n = 64; n <= 130; n += 2)
        check(*state, 3, 64 + n % 40, n);
}

static void pays_with_wide_matrices(void **state)
{
    const struct cov_gemm *gemm = cov_gemm_choose(cov_cpu_features());
    assert_true(cov_strassen_pays(gemm, 256, 512));
    assert_false(cov_strassen_pays(gemm, 255, 512));
    assert_false(cov_strassen_pays(gemm, 256, 511));
    assert_false(cov_strassen_pays(gemm, 16, 512));
#ifdef __x86_64__
    assert_false(cov_strassen_pays(&cov_gemm_dot_bf16, 256, 512));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(multiplies_pairs, new_data, free_data),
        cmocka_unit_test(pays_with_wide_matrices),
    };
    return cmocka_run_group_tests_name("strassen", tests, NULL, NULL);
}
