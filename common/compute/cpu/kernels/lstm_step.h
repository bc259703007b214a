/* lstm_step.h - a step of an LSTM for several sequences, in which products and gates overlap. It
 * gives the same bits as products with x and h (gemm.h) followed by lstm_cell (vec.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_LSTM_STEP_H
#define COV_COMPUTE_CPU_KERNELS_LSTM_STEP_H

#include <stdbool.h>
#include <stddef.h>

struct cov_matrix;

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
