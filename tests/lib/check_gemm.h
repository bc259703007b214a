/* check_gemm.h - for tests: checks a table of matrix products against sums in double, at every
 * remainder of rows and columns; and that a row's bits do not depend on its position.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TESTS_CHECK_GEMM_H
#define COV_TESTS_CHECK_GEMM_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/operands.h"

enum { MAX_M = 35, MAX_N = 104, MAX_K = 2400, GAP = 3, MAX_LDC = MAX_N + GAP };

/* A value that no product has. */
#define SENTINEL 12345.0f

struct gemm_data {
    float a[MAX_M * MAX_K + MAX_K], b[MAX_K * MAX_N];
    float before[MAX_M * MAX_LDC], c[MAX_M * MAX_LDC], row[MAX_LDC];
};

static int new_gemm_data(void **state)
{
    struct gemm_data *d = calloc(1, sizeof *d);
    struct cov_rng rng;
    cov_rng_init(&rng, 31);
    for (size_t i = 0; d && i < sizeof *d / sizeof(float); i++)
        ((float *)d)[i] = (float)cov_rng_double(&rng) * 2 - 1;
    *state = d;
    return !d;
}

static int free_gemm_data(void **state)
{
    free(*state);
    return 0;
}

/* Returns one product as defined in gemm.h. */
static double product_of(enum cov_arithmetic arithmetic, float a, float b)
{
    if (arithmetic == COV_FP32)
        return (double)a * (double)b;
    double a0 = (double)cov_bf16_round(a), a1 = (double)cov_bf16_low(a);
    double b0 = (double)cov_bf16_round(b), b1 = (double)cov_bf16_low(b);
    return arithmetic == COV_BF16 ? a0 * b0 : a0 * b0 + a0 * b1 + a1 * b0;
}

/* Returns the unit that preparing a row uses. */
static float unit_of_row(const float *a, size_t k, float *inverse)
{
    float largest = 0;
    for (size_t i = 0; i < k; i++)
        largest = fmaxf(largest, fabsf(a[i]));
    return cov_int16_row_unit(largest, inverse);
}

/* Returns element [r,j] of the product of integers, and adds the absolute values of its terms to
 * *size. */
static double int16_product(const struct gemm_data *d, const float *a, size_t n, size_t k, size_t j,
                            double *size)
{
    float inverse, row = unit_of_row(a, k, &inverse);
    float column = cov_int16_column_unit(k, d->b + j, n);
    double sum = 0, part = 0;
    for (size_t i = 0; i < k; i++) {
        double product =
            (double)cov_int16_of(a[i], inverse) * (double)cov_int16_of(d->b[i * n + j], 1 / column);
        sum += product;
        *size += fabs(product) * (double)row * (double)column;
        part = i % COV_INT16_DEPTH ? part + fabs(product) : fabs(product);
        assert_true(part < 2147483648.0);
        /* Rounding changed the value by at most half a unit. */
        assert_true(fabs((double)cov_int16_of(a[i], inverse) * (double)row - (double)a[i]) <=
                    0.501 * (double)row);
    }
    return sum * (double)row * (double)column;
}

static void check_product(const struct cov_gemm *gemm, struct gemm_data *d, size_t m, size_t n,
                          size_t k, size_t lda, bool add)
{
    struct cov_matrix b;
    size_t ldc = n + GAP, terms = gemm->arithmetic == COV_BF16X3 ? 3 : 1;
    assert_int_equal(cov_matrix_init(gemm, k, n, d->b, &b, NULL), 0);
    memcpy(d->c, d->before, sizeof d->c);
    for (size_t r = 0; r < m; r++)
        for (size_t j = n; j < ldc; j++)
            d->c[r * ldc + j] = SENTINEL;
    gemm->run(m, d->a, lda, &b, d->c, ldc, add);
    for (size_t r = 0; r < m; r++) {
        for (size_t j = 0; j < n; j++) {
            double sum = add ? (double)d->before[r * ldc + j] : 0, size = fabs(sum);
            if (gemm->arithmetic == COV_INT16)
                sum += int16_product(d, d->a + r * lda, n, k, j, &size);
            for (size_t i = 0; gemm->arithmetic != COV_INT16 && i < k; i++) {
                double product = product_of(gemm->arithmetic, d->a[r * lda + i], d->b[i * n + j]);
                sum += product;
                size += fabs(product);
            }
            double error = fabs((double)d->c[r * ldc + j] - sum);
            if (!(error <= 6e-8 * size * (double)(terms * k + 1)))
                fail_msg("%s: %zu x %zu x %zu, row stride %zu: [%zu,%zu] is off by %g", gemm->name,
                         m, n, k, lda, r, j, error);
        }
        for (size_t j = n; j < ldc; j++)
            assert_true(d->c[r * ldc + j] == SENTINEL);
        memcpy(d->row, d->before + r * ldc, n * sizeof *d->row);
        gemm->run(1, d->a + r * lda, lda, &b, d->row, n, add);
        assert_memory_equal(d->row, d->c + r * ldc, n * sizeof *d->row);
    }
    if (gemm->prepare && !add) { /* prepared rows give the same bits */
        float *ready = aligned_alloc(64, m * gemm->prepared_floats(k) * sizeof *ready);
        assert_non_null(ready);
        gemm->prepare(m, k, d->a, lda, ready);
        gemm->run_prepared(m, ready, &b, d->before, ldc);
        for (size_t r = 0; r < m; r++)
            assert_memory_equal(d->before + r * ldc, d->c + r * ldc, n * sizeof *d->c);
        free(ready);
    }
    cov_matrix_fini(&b);
}

/* Skips tables that the CPU cannot run. */
static void check_gemm(const struct cov_gemm *gemm, struct gemm_data *d)
{
    bool amx = gemm->needs & COV_CPU_AMX_TILE;
    if ((gemm->needs & ~cov_cpu_features()) || (amx && !cov_cpu_permit_amx())) {
        (void)printf("# %s: not on this CPU\n", gemm->name);
        return;
    }
    for (size_t m = 1; m <= MAX_M; m++)
        for (size_t n = 1; n <= MAX_N; n += n < 34 ? 1 : 7)
            check_product(gemm, d, m, n, 1 + (m * 7 + n) % 40, 44, (m + n) % 2);
    for (size_t k = 1; k <= 70; k++) {
        check_product(gemm, d, 13, 33, k, k + 1, false);
        check_product(gemm, d, 13, 20, k, (k + 1) / 2, true); /* overlapping rows */
    }
    static const size_t deep[] = {250, 256, 257, 1151, 1152, 1153, 2400};
    for (size_t i = 0; i < COV_COUNT(deep); i++) {
        check_product(gemm, d, 5, 66, deep[i], MAX_K, i % 2);
        check_product(gemm, d, 33, 40, deep[i], deep[i] / 5, i % 2);
    }
}

#endif
