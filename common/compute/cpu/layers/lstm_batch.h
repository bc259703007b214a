/* lstm_batch.h - the arguments of an LSTM layer (lstm.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_LSTM_BATCH_H
#define COV_COMPUTE_CPU_LAYERS_LSTM_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compute/plan.h"

/* The most sequences side by side; and how many are enough for products that are not on tiles. */
#define COV_LSTM_ROWS ((size_t)32)
#define COV_LSTM_FEW_ROWS ((size_t)16)

/* When a layer skips work: distances that count as none, relative to the largest value of a
 * vector. */
struct cov_lstm_rest {
    float x, h; /* how far an input or a state may move */
    /* After this many steps in the padding's state, a sequence is taken to stay there. 0: every
     * step is compared. */
    size_t settled;
};
/* In single precision. 2^-19 changes a sum about as much as rounding does, which is 2^-24 per term;
 * with 2^-17, networks that amplify rounding were off by 1.4e-5, for 7 % less work. */
#define COV_LSTM_REST_FP32 ((struct cov_lstm_rest){0x1p-19F, 0x1p-19F, 0})

/* Input and output of a layer for a chunk of only padding. */
struct cov_lstm_padding {
    const float *x;                   /* [T, c_in] */
    const struct cov_row_plan *input; /* the row of x that each row is a copy of; NULL: no copies */
    bool last;                        /* the last LSTM layer: no other one reads y */
    float *y;     /* [T, directions*hidden]; the last layer omits the forward half */
    float *cells; /* [T, hidden] of the backward direction; NULL without one */
};

/* The wanted rows of a sequence, and the work it took. */
struct cov_lstm_task {
    struct cov_rows rows;             /* wanted rows of y: the forward direction runs up to end, the
                                         backward one down to beg; empty: nothing */
    const struct cov_row_plan *input; /* the row of x that each row is a copy of; NULL: no copies */
    size_t x_padded;                  /* rows of x from this one on are the padding's */
    size_t y_padded;                  /* out: rows of y from this one on are the padding's */
    size_t x_products, h_products;    /* out: rows of products that were computed */
};

/* A call: y[T, n, directions*hidden] of x[T, n, c_in], time-major. x and y do not overlap. */
struct cov_lstm_batch {
    size_t n;                    /* <= COV_LSTM_ROWS */
    struct cov_lstm_task *tasks; /* [n] */
    bool full;                   /* compute all rows; skip nothing */
    /* NULL, or filled by cov_lstm_run_padding; NULL if `full`. With padding, rows of x from
     * x_padded on are not read. Wanted rows of y from y_padded on are in padding->y; in y itself,
     * they are incomplete. y_padded is T in the last layer, and if the forward direction does not
     * run to the end. */
    const struct cov_lstm_padding *padding;
    const float *x;
    float *y;
};

#endif
