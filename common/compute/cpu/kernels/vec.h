/* vec.h - element-wise kernels, compiled once per instruction set.
 *
 * Plain loops that the compiler vectorises, without fused multiply-adds, so that all levels give
 * the same bits. LSTM gates are an exception: they are written with vectors and use fused
 * multiply-adds if available.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_VEC_H
#define COV_COMPUTE_CPU_KERNELS_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The operations after the sums of a convolution, per channel: y = max(sum + bias, lowest) * scale
 * + shift. lowest is 0 for ReLU, -INFINITY for none. */
struct cov_finish {
    const float *bias, *scale, *shift;
    float lowest;
};

/* A first layer computed by table look-up, from codes instead of one-hot rows. */
struct cov_look_up {
    size_t rows, n;
    const float *table; /* [n_taps, 16, n] */
    size_t n_taps;
    const uint8_t *codes;
    size_t step, apart; /* distance from row to row and from tap to tap, in codes */
    float *y;           /* row r at y + r * y_stride */
    size_t y_stride;
};

/* One step of an LSTM for `rows` sequences. gates[r] + bias are the pre-activations i, f, g, o of
 * `hidden` units each; they are replaced by sigmoid(i) tanh(g), sigmoid(f), undefined, 1 /
 * sigmoid(o). cell[r,u] = f cell + i g; h[r * h_stride + u] = o tanh(cell). Relative errors of
 * sigmoid and tanh: 3e-7, down to 5e-18. */
struct cov_lstm_cells {
    size_t rows, hidden;
    float *gates;
    const float *bias;
    float *cell, *h;
    size_t h_stride;
};

struct cov_vec {
    const char *name;
    unsigned needs; /* COV_CPU_* bits */

    /* y = `f` applied to acc[rows,n]; NaN stays NaN. Row r of y is at y + r * y_stride. */
    void (*finish)(size_t rows, size_t n, const float *acc, const struct cov_finish *f, float *y,
                   size_t y_stride);

    void (*lstm_cell)(const struct cov_lstm_cells *cells);

    /* One step of one sequence whose gates, as left by lstm_cell, have not changed. `before` is h
     * of the previous step. Where a cell has not changed either, h is copied from `before`. */
    void (*lstm_rest)(size_t hidden, const float *gates, float *cell, const float *before,
                      float *h);

    /* Returns the largest |a[i]|, i < n; NaN if any a[i] is NaN. */
    float (*largest)(size_t n, const float *a);

    /* Returns true if |a[i] - b[i]| <= most for all i < n; false if any of them is NaN. */
    bool (*within)(size_t n, const float *a, const float *b, float most);

    /* y[i] = exp(y[i]) for i < n, relative error 1.5e-7; infinity above 88.72, 0 below -87.33 on a
     * thread that flushes denormals. NaN stays NaN. */
    void (*exp)(size_t n, float *y);

    /* y[rows,n] = `f` applied to the sum over k < n_taps of table[k, code], where
     * code = codes[r * step + k * apart] modulo 16. */
    void (*look_up)(const struct cov_look_up *l, const struct cov_finish *f);
};

extern const struct cov_vec cov_vec_base, cov_vec_avx2, cov_vec_avx512;
/* For LSTMs whose products, in bf16x3 and in bf16, round more than their gates: errors are 3e-6 and
 * 6e-5, relative for sigmoid and absolute for tanh. */
extern const struct cov_vec cov_vec_amx, cov_vec_amx_bf16;

/* Returns the widest table for these features (COV_CPU_* bits). */
const struct cov_vec *cov_vec_choose(unsigned features);

#endif
