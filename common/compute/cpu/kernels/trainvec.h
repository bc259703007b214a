/* trainvec.h - element-wise kernels of training, compiled once per instruction set. They compute
 * what tests/lib/reference/ref_train.h specifies, in single precision with sums over rows in double.
 *
 * Rows have c values; row r of an array with a stride starts at r * stride.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_TRAINVEC_H
#define COV_COMPUTE_CPU_KERNELS_TRAINVEC_H

#include <stddef.h>
#include <stdint.h>

/* Rows of c values before a norm, and the gradient of the norm's output. */
struct cov_trainvec_rows {
    size_t rows, c;
    const float *r;
    size_t r_stride;
    const float *d;
    size_t d_stride;
};

/* One step of an LSTM for several sequences; strides are from one sequence to the next. */
struct cov_trainvec_lstm {
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

struct cov_trainvec {
    const char *name;
    unsigned needs; /* COV_CPU_* bits */

    /* sums[i] += r, sums[c + i] += r^2 */
    void (*norm_sums)(size_t rows, size_t c, const float *r, size_t r_stride, double *sums);
    /* y = r * scale + shift; d is not read */
    void (*scale)(const struct cov_trainvec_rows *x, const float *scale, const float *shift,
                  float *y, size_t y_stride);
    /* sums[i] += d, sums[c + i] += d (r - mean) rstd */
    void (*norm_backward_sums)(const struct cov_trainvec_rows *x, const float *mean,
                               const float *rstd, double *sums);
    /* z[rows,c] = by_d d + by_r r + shift where r > 0, else 0; sums[i] += z */
    void (*relu_backward)(const struct cov_trainvec_rows *x, const float *by_d, const float *by_r,
                          const float *shift, float *z, double *sums);
    /* y[n] = sum over k < n_terms <= 8 of by[k] rows[k] */
    void (*combine)(size_t n, size_t n_terms, const float *const *rows, const float *by, float *y);
    /* sums[i] += x */
    void (*column_sums)(size_t rows, size_t c, const float *x, size_t x_stride, double *sums);

    /* sums[rows, 4*hidden] + bias are the pre-activations; row r of h is at h + r * h_stride. */
    void (*lstm_forward)(const struct cov_trainvec_lstm *s, const float *sums, const float *bias,
                         float *h, size_t h_stride);
    /* dh = dy (row r at dy + r * dy_stride) + from_next[rows,hidden] (NULL: zeros).
     * dc[rows,hidden] is the gradient of the cells: on entry from the next step, on return for the
     * previous step. */
    void (*lstm_backward)(const struct cov_trainvec_lstm *s, const float *dy, size_t dy_stride,
                          const float *from_next, float *dc);

    /* y[n] = x with dropout: elements whose bits are below `limit` are 0, the others are scaled.
     * Elements are numbered from `first`, which is even (dropout.h). y may be x. */
    void (*dropout)(size_t n, uint64_t key, uint64_t first, uint32_t limit, float scale,
                    const float *x, float *y);
};

extern const struct cov_trainvec cov_trainvec_base, cov_trainvec_avx2, cov_trainvec_avx512;

/* Returns the widest table for these features (COV_CPU_* bits). */
const struct cov_trainvec *cov_trainvec_choose(unsigned features);

#endif
