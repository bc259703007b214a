/* vec.h - the element-wise kernels, compiled once per instruction set.
 *
 * Plain loops that the compiler vectorises, where multiplication and addition are never fused, so
 * that all levels give the same bits; but for the gates of an LSTM, which are written in vectors,
 * with multiply-adds where there are any.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_VEC_H
#define COV_COMPUTE_CPU_KERNELS_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands behind the sums of a convolution, by channel: y = max(sum + bias, lowest) * scale +
 * shift. lowest is 0 for ReLU, -INFINITY for none. */
struct cov_finish {
    const float *bias, *scale, *shift;
    float lowest;
};

/* A first layer by table look-up. */
struct cov_look_up {
    size_t rows, n;
    const float *table; /* [n_taps, 16, n] */
    size_t n_taps;
    const uint8_t *codes;
    size_t step, apart; /* of rows and of taps, in codes */
    float *y;           /* row r at y + r * y_stride */
    size_t y_stride;
};

struct cov_vec {
    const char *name;
    unsigned needs; /* COV_CPU_* bits */

    /* Row r of y, at y + r * y_stride, of acc[rows,n]; NaN stays NaN. */
    void (*finish)(size_t rows, size_t n, const float *acc, const struct cov_finish *f, float *y,
                   size_t y_stride);

    /* One step of an LSTM for `rows` sequences: gates[r] + bias are pre-activations i, f, g, o of
     * `hidden` units each, in whose place come sigmoid(i) tanh(g), sigmoid(f), anything, 1 /
     * sigmoid(o); cell[r,u] = f cell + i g; h[r * h_stride + u] = o tanh(cell). Relative errors of
     * sigmoid and tanh: 3e-7, down to 5e-18. */
    void (*lstm_cell)(size_t rows, size_t hidden, float *gates, const float *bias, float *cell,
                      float *h, size_t h_stride);

    /* One step of one sequence with the gates as lstm_cell left them; `before` is the h that they
     * gave the step before (where cells have come to rest, too, it is the same). */
    void (*lstm_rest)(size_t hidden, const float *gates, float *cell, const float *before,
                      float *h);

    /* The largest |a| of n; NaN if there is one. */
    float (*largest)(size_t n, const float *a);

    /* Whether |a[i] - b[i]| <= most for all i < n; false where NaN is. */
    bool (*within)(size_t n, const float *a, const float *b, float most);

    /* y[i] = exp(y[i]) for i < n, relative error 1.5e-7; infinity above 88.72, 0 below -87.33 on a
     * thread that flushes denormals. NaN stays NaN. */
    void (*exp)(size_t n, float *y);

    /* y[rows,n]: `f` of the sum over k < n_taps of table[k, code], code = codes[r * step + k * apart]
     * modulo 16. */
    void (*look_up)(const struct cov_look_up *l, const struct cov_finish *f);

    /* The terms of a pair of rows (strassen.h), `half` floats each: term j at v + j * v_step. */
    void (*strassen_terms)(size_t half, const float *first, const float *second, float *v,
                           size_t v_step);

    /* What the products of these terms sum up to, for n columns: product j at m + j * m_step. c0 and
     * c1 are of the first row's halves, c2 and c3 of the second one's. */
    void (*strassen_sums)(size_t n, const float *m, size_t m_step, float *c0, float *c1, float *c2,
                          float *c3);
};

extern const struct cov_vec cov_vec_base, cov_vec_avx2, cov_vec_avx512;

/* The widest whose needs are among `features`. */
const struct cov_vec *cov_vec_choose(unsigned features);

#endif
