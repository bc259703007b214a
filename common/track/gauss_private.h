/* gauss_private.h - the sums of gauss.c, which are compiled for several instruction sets.
 *
 * An output is the same sum in the same order for each of them: nothing is contracted, and vectors
 * lie across outputs.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_GAUSS_PRIVATE_H
#define COV_TRACK_GAUSS_PRIVATE_H

#include "common/track/gauss.h"

/* Bases beg .. end-1 of the contig, with one value. */
struct cov_gauss_run {
    int64_t beg, end;
    float value;
};

/* out[k] = sum of the n runs' values times sums[zero - end + k] - sums[zero - beg + k], for k <
 * BLOCK, with each run's beg and end cut to the given ones; weights[zero - beg + k] is that
 * difference for a run of one base. */
typedef void cov_gauss_sums_fn(const struct cov_gauss_run *runs, size_t n, int64_t beg, int64_t end,
                               const double *weights, const double *sums, int64_t zero,
                               double *out);
cov_gauss_sums_fn cov_gauss_sums_base, cov_gauss_sums_avx2;

/* An eighth of a block, at any address. */
typedef double cov_gauss_vec
    __attribute__((vector_size(COV_GAUSS_BLOCK / 8 * sizeof(double)), aligned(8), may_alias));

/* Written out so that the sums stay in registers. */
static inline void cov_gauss_sums_body(const struct cov_gauss_run *runs, size_t n, int64_t beg,
                                       int64_t end, const double *weights, const double *sums,
                                       int64_t zero, double *out)
{
    cov_gauss_vec sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
    cov_gauss_vec sum4 = {0}, sum5 = {0}, sum6 = {0}, sum7 = {0};
    for (size_t i = 0; i < n; i++) {
        double value = (double)runs[i].value;
        int64_t from = runs[i].beg > beg ? runs[i].beg : beg;
        int64_t to = runs[i].end < end ? runs[i].end : end;
        if (to - from == 1) {
            const cov_gauss_vec *w = (const cov_gauss_vec *)(weights + (zero - from));
            sum0 += value * w[0];
            sum1 += value * w[1];
            sum2 += value * w[2];
            sum3 += value * w[3];
            sum4 += value * w[4];
            sum5 += value * w[5];
            sum6 += value * w[6];
            sum7 += value * w[7];
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
