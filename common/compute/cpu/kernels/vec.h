/* vec.h - element-wise kernels of prediction and training, compiled once per instruction set.
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

/* ---- training ----
 *
 * What tests/lib/reference/ref_train.h specifies, in single precision with sums over rows in double.
 * Rows have c values; row r of an array with a stride starts at r * stride. */

/* Rows of c values before a norm, and the gradient of the norm's output. */
struct cov_vec_rows {
    size_t rows, c;
    const float *r;
    size_t r_stride;
    const float *d;
    size_t d_stride;
};

/* One step of an LSTM for several sequences; strides are from one sequence to the next. */
struct cov_vec_lstm {
    size_t rows, hidden;
    size_t gates_stride, cells_stride;
    float *
        gates; /* i, f, g, o, `hidden` each: written by forward; backward replaces them by their gradients */
    float *cells;        /* written by forward */
    const float *before; /* cells of the previous step; NULL: zeros */

    /* The memory that the next call reads or writes, to be prefetched; NULL: nothing. next_gates
     * and next_cells have the strides above, next_y that of h or dy. */
    const float *next_gates, *next_cells, *next_y;
};

/* ---- tables ---- */

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

    /* ---- training ---- */

    /* sums[i] += r, sums[c + i] += r^2 */
    void (*norm_sums)(size_t rows, size_t c, const float *r, size_t r_stride, double *sums);
    /* y = r * scale + shift; d is not read */
    void (*scale)(const struct cov_vec_rows *x, const float *scale, const float *shift, float *y,
                  size_t y_stride);
    /* sums[i] += d, sums[c + i] += d (r - mean) rstd */
    void (*norm_backward_sums)(const struct cov_vec_rows *x, const float *mean, const float *rstd,
                               double *sums);
    /* z[rows,c] = by_d d + by_r r + shift where r > 0, else 0; sums[i] += z */
    void (*relu_backward)(const struct cov_vec_rows *x, const float *by_d, const float *by_r,
                          const float *shift, float *z, double *sums);
    /* y[n] = sum over k < n_terms <= 8 of by[k] rows[k] */
    void (*combine)(size_t n, size_t n_terms, const float *const *rows, const float *by, float *y);
    /* sums[i] += x */
    void (*column_sums)(size_t rows, size_t c, const float *x, size_t x_stride, double *sums);

    /* sums[rows, 4*hidden] + bias are the pre-activations; row r of h is at h + r * h_stride. */
    void (*lstm_forward)(const struct cov_vec_lstm *s, const float *sums, const float *bias,
                         float *h, size_t h_stride);
    /* dh = dy (row r at dy + r * dy_stride) + from_next[rows,hidden] (NULL: zeros).
     * dc[rows,hidden] is the gradient of the cells: on entry from the next step, on return for the
     * previous step. */
    void (*lstm_backward)(const struct cov_vec_lstm *s, const float *dy, size_t dy_stride,
                          const float *from_next, float *dc);

    /* y[n] = x with dropout: elements whose bits are below `limit` are 0, the others are scaled.
     * Elements are numbered from `first`, which is even (dropout.h). y may be x. */
    void (*dropout)(size_t n, uint64_t key, uint64_t first, uint32_t limit, float scale,
                    const float *x, float *y);
};

extern const struct cov_vec cov_vec_base, cov_vec_avx2, cov_vec_avx512;
/* For LSTMs whose products, in bf16x3 and in bf16, round more than their gates: errors are 3e-6 and
 * 6e-5, relative for sigmoid and absolute for tanh. */
extern const struct cov_vec cov_vec_amx, cov_vec_amx_bf16;

/* Returns the widest table for these features (COV_CPU_* bits). */
const struct cov_vec *cov_vec_choose(unsigned features);

#endif
