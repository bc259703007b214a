/* gauss_sums.h - the inner loop of gauss.c, compiled for several instruction sets.
 *
 * Each output is the same sum in the same order on every instruction set, because multiplications
 * and additions are not contracted, and each lane of a vector is a different output.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_GAUSS_SUMS_H
#define COV_TRACK_GAUSS_SUMS_H

#include <stddef.h>
#include <stdint.h>

enum { COV_GAUSS_BLOCK = 32 };

/* Bases beg .. end-1 of the contig have the same value. */
struct cov_gauss_run {
    int64_t beg, end;
    float value;
};

/* The runs that overlap bases beg .. end-1, and the tables of struct cov_gauss. */
struct cov_gauss_window {
    const struct cov_gauss_run *runs;
    size_t n_runs;
    int64_t beg, end;
    const double *weights, *sums;
    int64_t zero;
};

/* out[k] = sum over the runs, clipped to beg .. end, of
 *   value * (sums[zero - end_of_run + k] - sums[zero - beg_of_run + k]),   k < COV_GAUSS_BLOCK
 * For a run of one base that difference is weights[zero - beg_of_run + k]. */
typedef void cov_gauss_sums_fn(const struct cov_gauss_window *window, double *out);
cov_gauss_sums_fn cov_gauss_sums_base, cov_gauss_sums_avx2;

/* A vector of an eighth of a block, which may be unaligned. */
typedef double cov_gauss_vec
    __attribute__((vector_size(COV_GAUSS_BLOCK / 8 * sizeof(double)), aligned(8), may_alias));

/* Unrolled, so that the sums stay in registers. */
static inline void cov_gauss_sums_body(const struct cov_gauss_window *w, double *out)
{
    const struct cov_gauss_run *runs = w->runs;
    const double *weights = w->weights, *sums = w->sums;
    int64_t beg = w->beg, end = w->end, zero = w->zero;
    cov_gauss_vec sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
    cov_gauss_vec sum4 = {0}, sum5 = {0}, sum6 = {0}, sum7 = {0};
    for (size_t i = 0, n = w->n_runs; i < n; i++) {
        double value = (double)runs[i].value;
        int64_t from = runs[i].beg > beg ? runs[i].beg : beg;
        int64_t to = runs[i].end < end ? runs[i].end : end;
        if (to - from == 1) {
            const cov_gauss_vec *a = (const cov_gauss_vec *)(weights + (zero - from));
            sum0 += value * a[0];
            sum1 += value * a[1];
            sum2 += value * a[2];
            sum3 += value * a[3];
            sum4 += value * a[4];
            sum5 += value * a[5];
            sum6 += value * a[6];
            sum7 += value * a[7];
        } else {
            const cov_gauss_vec *a = (const cov_gauss_vec *)(sums + (zero - from));
            const cov_gauss_vec *b = (const cov_gauss_vec *)(sums + (zero - to));
            sum0 += value * (b[0] - a[0]);
            sum1 += value * (b[1] - a[1]);
            sum2 += value * (b[2] - a[2]);
            sum3 += value * (b[3] - a[3]);
            sum4 += value * (b[4] - a[4]);
            sum5 += value * (b[5] - a[5]);
            sum6 += value * (b[6] - a[6]);
            sum7 += value * (b[7] - a[7]);
        }
    }
    cov_gauss_vec *o = (cov_gauss_vec *)out;
    o[0] = sum0;
    o[1] = sum1;
    o[2] = sum2;
    o[3] = sum3;
    o[4] = sum4;
    o[5] = sum5;
    o[6] = sum6;
    o[7] = sum7;
}

#endif
