/* lstm_batch.h - the arguments of an LSTM layer (lstm.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_LSTM_BATCH_H
#define COV_COMPUTE_CPU_LAYERS_LSTM_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compute/plan.h"

/* Sequences side by side, at most. */
#define COV_LSTM_ROWS ((size_t)16)

/* How far an input or a state may move and still count as the same, relative to its largest value.
 * 2^-19 changes a sum about as much as rounding does, which is 2^-24 a term; with 2^-17, networks
 * that amplify rounding were off by 1.4e-5, for 7 % less work. */
#define COV_LSTM_STILL 0x1p-19f
/* Distance between two sequences that settle at the same state, each within COV_LSTM_STILL of it. */
#define COV_LSTM_ALIKE (2 * COV_LSTM_STILL)

/* Input and output of a layer for a chunk of only padding. */
struct cov_lstm_padding {
    const float *x;                   /* [T, c_in] */
    const struct cov_row_plan *input; /* where rows of x are; NULL: each in its place */
    bool last;                        /* the last LSTM layer: no other one reads y */
    float *y;     /* [T, directions*hidden]; of the last layer without the forward half */
    float *cells; /* [T, hidden] of the backward direction; NULL without one */
};

/* What is wanted of a sequence, and the work it took. */
struct cov_lstm_task {
    struct cov_rows rows;             /* wanted rows of y: the forward direction runs up to end, the
                                         backward one down to beg; empty: nothing */
    const struct cov_row_plan *input; /* where rows of x are; NULL: each in its place */
    size_t x_padded;                  /* rows of x from this one on are the padding's */
    size_t y_padded;                  /* out: the same of y */
    size_t x_products, h_products;    /* out: rows of products that were computed */
};

/* A call: y[T, n, directions*hidden] of x[T, n, c_in], time-major. x and y do not overlap. */
struct cov_lstm_batch {
    size_t n;                    /* <= COV_LSTM_ROWS */
    struct cov_lstm_task *tasks; /* [n] */
    bool full;                   /* compute all rows; nothing rests */
    /* NULL, or filled by cov_lstm_run_padding, and not `full`. Then x is not read from x_padded on, y
     * is not complete from y_padded on, and wanted rows after it are in padding->y. y_padded is T for
     * the last layer, and where the forward direction does not run to the end. */
    const struct cov_lstm_padding *padding;
    const float *x;
    float *y;
};

#endif
