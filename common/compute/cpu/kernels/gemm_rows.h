/* gemm_rows.h - products of a convolution, finished as soon as they are computed. They give the
 * same bits as products (gemm.h) followed by `finish` (vec.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_GEMM_ROWS_H
#define COV_COMPUTE_CPU_KERNELS_GEMM_ROWS_H

#include <stddef.h>

struct cov_matrix;
struct cov_finish;

enum {
    COV_ROWS_MULTIPLE = 32,    /* k and n of the products, and `channels`, are multiples of this */
    COV_ROWS_PARTS = 4,        /* the most products with the same rows */
    COV_ROWS_TILE = 32,        /* rows at once */
    COV_ROWS_ROOM = 32 * 1152, /* the most floats that these rows cover */
};

/* y[p][r] = finish(x[r * step + offset[p] ...] B[p]) for r < m and each product p. x is rows of
 * `channels` floats, a divisor of `step`; they are x_stride apart, which step and offset do not
 * count. */
struct cov_gemm_rows {
    size_t m, step;
    const float *x;
    size_t channels, x_stride;
    size_t n_parts;
    struct {
        const struct cov_matrix *b;
        size_t offset; /* in floats */
        float *y;
    } part[COV_ROWS_PARTS];
    size_t y_stride;
    const struct cov_finish *finish;
};

typedef void cov_gemm_rows_fn(const struct cov_gemm_rows *rows);

#endif
