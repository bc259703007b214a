/* gemm_fused.h - products whose results are used at once: a convolution's rows, and a step of an LSTM
 * for several sequences, in which products and gates overlap. They give the same bits as products
 * (gemm.h) followed by `finish`, and as products with x and h followed by lstm_cell (vec.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_GEMM_FUSED_H
#define COV_COMPUTE_CPU_KERNELS_GEMM_FUSED_H

#include <stdbool.h>
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

/* ---- a step of an LSTM ---- */

enum {
    COV_STEP_ROWS = 32,     /* the most sequences */
    COV_STEP_UNITS = 16,    /* units whose gates are computed together */
    COV_STEP_MULTIPLE = 32, /* c_in and hidden are multiples of this */
    COV_STEP_DEPTH = 1152,  /* the most c_in + hidden */
};

struct cov_lstm_step {
    size_t n, c_in, hidden;
    const struct cov_matrix *weights; /* [c_in + hidden, 4 * hidden]; column c is that of gate
                                       * cov_step_column(c) */
    const float *bias;                /* [4 * hidden], gates in PyTorch's order */
    const float *x;                   /* [n, c_in] */
    const float *h; /* [n, hidden] of the step before, row stride h_stride; NULL: zeros */
    size_t h_stride;
    float *cell; /* [n, hidden] */
    float *y;    /* [n, hidden], row stride h_stride */
    /* Prefetched: x of a later step and y of the next one; NULL: nothing. */
    const float *next_x, *next_y;
};

typedef void cov_lstm_step_fn(const struct cov_lstm_step *s);

/* Returns true if there is a step for layers of this shape. */
static inline bool cov_step_fits(size_t c_in, size_t hidden)
{
    return c_in % COV_STEP_MULTIPLE == 0 && hidden % COV_STEP_MULTIPLE == 0 &&
           c_in + hidden <= COV_STEP_DEPTH;
}

/* Returns the gate in column c of the weights: the four gates of 16 units are side by side. */
static inline size_t cov_step_column(size_t hidden, size_t c)
{
    size_t group = c / (4 * COV_STEP_UNITS), gate = c / COV_STEP_UNITS % 4;
    return gate * hidden + group * COV_STEP_UNITS + c % COV_STEP_UNITS;
}

#endif
