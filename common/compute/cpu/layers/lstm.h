/* lstm.h - an LSTM layer for up to COV_LSTM_ROWS sequences side by side, which skips the products of
 * sequences that rest.
 *
 * The gates of a step depend on x[t] and h[t-1] only. As long as neither has moved by more than
 * COV_LSTM_STILL since the gates were computed, they are kept, and only c = f c + i g and
 * h = o tanh(c) are computed: cells continue to count. If x alone has not moved, its part of the sums
 * is kept. Distances are measured from the vectors that the gates were computed from, so that small
 * moves add up. Whether a sequence rests does not depend on the other sequences.
 *
 * All sequences end in the same padding, and most of the remaining work there is the state of the
 * backward direction settling. That is computed once, for a chunk of only padding: where a
 * sequence's x equals that of the padding chunk row by row, within COV_LSTM_STILL, the sequence takes
 * the padding's rows, and its backward direction starts before them with the padding's cells.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_LSTM_H
#define COV_COMPUTE_CPU_LAYERS_LSTM_H

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/device.h"
#include "common/compute/plan.h"

/* Sequences side by side, at most. */
#define COV_LSTM_ROWS ((size_t)16)

/* How far an input or a state may move and still count as the same, relative to its largest value.
 * 2^-19 changes a sum about as much as rounding does, which is 2^-24 a term; with 2^-17, networks
 * that amplify rounding were off by 1.4e-5, for 7 % less work. */
#define COV_LSTM_STILL 0x1p-19f
/* Distance between two sequences that settle at the same state, each within COV_LSTM_STILL of it. */
#define COV_LSTM_ALIKE (2 * COV_LSTM_STILL)

/* One layer with its weights packed. */
struct cov_lstm;

int cov_lstm_new(const struct cov_layer *layer, const struct cov_layer_weights *w,
                 const struct cov_gemm *gemm, const struct cov_vec *vec, struct cov_lstm **out,
                 struct cov_err *e) COV_MUST_USE;
void cov_lstm_free(struct cov_lstm *f); /* NULL is accepted */
/* Floats of scratch that running it needs. */
size_t cov_lstm_scratch(const struct cov_lstm *f);

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
void cov_lstm_run(const struct cov_lstm *f, const struct cov_lstm_batch *batch, float *scratch);

/* In `input`, turns copies of a period of rows of x[T, c_in] that all equal the first, within
 * COV_LSTM_STILL, into copies of that row. */
void cov_lstm_settle(const struct cov_lstm *f, const float *x, struct cov_row_plan *input);
/* Fills p->y and p->cells. */
void cov_lstm_run_padding(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                          float *scratch);
/* The x_padded of a sequence: the first row from which on all rows equal the padding's, within
 * COV_LSTM_STILL. Row t of x[T, c_in], or the row that `input` copies, is at x + t * x_stride. */
size_t cov_lstm_padded_from(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                            const struct cov_row_plan *input, const float *x, size_t x_stride);

#endif
