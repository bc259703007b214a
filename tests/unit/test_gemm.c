/* test_gemm.c - matrix products of every instruction set at every remainder of rows and columns,
 * against sums in double; a row has the same bits wherever it stands.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/attr.h"
#include "common/base/cpu.h"
#include "common/base/rng.h"
#include "common/compute/cpu/gemm.h"

enum { MAX_M = 27, MAX_N = 70, MAX_K = 40, GAP = 3, MAX_LDC = MAX_N + GAP };
static const float SENTINEL = 12345.0f;

static const struct cov_gemm *const tables[] = {
    &cov_gemm_base,
#ifdef __x86_64__
    &cov_gemm_avx2,
    &cov_gemm_avx512,
#endif
};

struct data {
    float a[MAX_M * MAX_K + MAX_K], b[MAX_K * MAX_N];
    float before[MAX_M * MAX_LDC], c[MAX_M * MAX_LDC], row[MAX_LDC];
};

static int new_data(void **state)
{
    struct data *d = calloc(1, sizeof *d);
    struct cov_rng rng;
    cov_rng_init(&rng, 31);
    for (size_t i = 0; d && i < sizeof *d / sizeof(float); i++)
        ((float *)d)[i] = (float)cov_rng_double(&rng) * 2 - 1;
    *state = d;
    return !d;
}

static int free_data(void **state)
{
    free(*state);
    return 0;
}

static void check(const struct cov_gemm *gemm, struct data *d, size_t m, size_t n, size_t k,
                  size_t lda, bool add)
{
    struct cov_matrix b;
    size_t ldc = n + GAP;
    assert_int_equal(cov_matrix_init(gemm, k, n, d->b, &b, NULL), 0);
    memcpy(d->c, d->before, sizeof d->c);
    for (size_t r = 0; r < m; r++)
        for (size_t j = n; j < ldc; j++)
            d->c[r * ldc + j] = SENTINEL;
    gemm->run(m, d->a, lda, &b, d->c, ldc, add);
    for (size_t r = 0; r < m; r++) {
        for (size_t j = 0; j < n; j++) {
            double sum = add ? (double)d->before[r * ldc + j] : 0, size = fabs(sum);
            for (size_t i = 0; i < k; i++) {
                double product = (double)d->a[r * lda + i] * (double)d->b[i * n + j];
                sum += product;
                size += fabs(product);
            }
            double error = fabs((double)d->c[r * ldc + j] - sum);
            if (!(error <= 6e-8 * size * (double)(k + 1)))
                fail_msg("%s: %zu x %zu x %zu, row stride %zu: [%zu,%zu] is off by %g", gemm->name,
                         m, n, k, lda, r, j, error);
        }
        for (size_t j = n; j < ldc; j++)
            assert_true(d->c[r * ldc + j] == SENTINEL);
        memcpy(d->row, d->before + r * ldc, n * sizeof *d->row);
        gemm->run(1, d->a + r * lda, lda, &b, d->row, n, add);
        assert_memory_equal(d->row, d->c + r * ldc, n * sizeof *d->row);
    }
    cov_matrix_fini(&b);
}

static void multiplies(void **state)
{
    struct data *d = *state;
    for (size_t t = 0; t < COV_COUNT(tables); t++) {
        if (tables[t]->needs & ~cov_cpu_features())
            continue;
        for (size_t m = 1; m <= MAX_M; m++)
            for (size_t n = 1; n <= MAX_N; n += n < 34 ? 1 : 7)
                check(tables[t], d, m, n, 1 + (m * 7 + n) % MAX_K, MAX_K, (m + n) % 2);
        for (size_t k = 1; k <= MAX_K; k++) {
            check(tables[t], d, 13, 33, k, k + 1, false);
            check(tables[t], d, 13, 20, k, (k + 1) / 2, true); /* overlapping rows */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(multiplies, new_data, free_data),
    };
    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
