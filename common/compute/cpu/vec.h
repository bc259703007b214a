/* vec.h - the element-wise kernels, compiled once per instruction set.
 *
 * Plain loops that the compiler vectorises; multiplication and addition are never fused here, so
 * that all levels give the same bits.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_VEC_H
#define COV_COMPUTE_CPU_VEC_H

#include <stddef.h>

struct cov_vec {
    const char *name;
    unsigned needs; /* COV_CPU_* bits */

    /* y[r * y_stride + c] = relu(acc[r,c] + bias[c]) * scale[c] + shift[c] for r < rows, c < n. */
    void (*finish)(size_t rows, size_t n, const float *acc, const float *bias, const float *scale,
                   const float *shift, float *y, size_t y_stride);

    /* One step of an LSTM for `rows` sequences: with gates[r] + bias as pre-activations i, f, g, o of
     * `hidden` units each, cell[r,u] = sigmoid(f) cell + sigmoid(i) tanh(g);
     * h[r * h_stride + u] = sigmoid(o) tanh(cell). Relative errors of sigmoid and tanh: 3e-7. */
    void (*lstm_cell)(size_t rows, size_t hidden, const float *gates, const float *bias,
                      float *cell, float *h, size_t h_stride);

    /* y[i] = exp(y[i]) for i < n, relative error 1.5e-7; infinity above 88.72, 0 below -87.33 on a
     * thread that flushes denormals. NaN stays NaN. */
    void (*exp)(size_t n, float *y);
};

extern const struct cov_vec cov_vec_base, cov_vec_avx2, cov_vec_avx512;

/* The widest whose needs are among `features`. */
const struct cov_vec *cov_vec_choose(unsigned features);

#endif
