/* lstm.h - an LSTM layer of up to COV_LSTM_ROWS sequences side by side, whose products rest where
 * nothing moves.
 *
 * The gates of a step depend on x[t] and h[t-1] alone. While neither has moved by more than
 * COV_LSTM_STILL since they were last computed, the gates are kept, and only c = f c + i g and
 * h = o tanh(c) are done: a cell goes on counting. While x alone stands still, its part of the sums is
 * kept. The distance is that from what the gates were computed of, so that small moves add up to a
 * new computation. What a sequence does depends on itself alone.
 *
 * Behind their last base all sequences are alike, and most of what is left to compute is how the state
 * of the backward direction settles there. So that is done once, for a chunk of nothing but padding:
 * where x stands still, not from row to row, but from that chunk to a sequence, the sequence has its
 * rows, and the backward direction begins in front of them, with its cells.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_LSTM_H
#define COV_COMPUTE_CPU_LAYERS_LSTM_H

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/device.h"
#include "common/compute/plan.h"

/* The most sequences that run through an LSTM side by side. */
#define COV_LSTM_ROWS ((size_t)16)

/* What an input or a state may move by, of the largest of its values, and still count as the same.
 * 2^-19 changes a sum over it about as much as rounding does, which is 2^-24 a term; with 2^-17,
 * networks that amplify their rounding were 1.4e-5 off, for 7 % less work. */
#define COV_LSTM_STILL 0x1p-19f
/* What two sequences may differ by that come to rest in one place, each as near to it as that. */
#define COV_LSTM_ALIKE (2 * COV_LSTM_STILL)

/* One layer with its weights packed. */
struct cov_lstm;

int cov_lstm_new(const struct cov_layer *layer, const struct cov_layer_weights *w,
                 const struct cov_gemm *gemm, const struct cov_vec *vec, struct cov_lstm **out,
                 struct cov_err *e) COV_MUST_USE;
void cov_lstm_free(struct cov_lstm *f); /* NULL is accepted */
/* Floats of scratch that running it needs. */
size_t cov_lstm_scratch(const struct cov_lstm *f);

/* What a layer makes of a chunk of nothing but padding. */
struct cov_lstm_padding {
    const float *x;                   /* [T, c_in] */
    const struct cov_row_plan *input; /* where rows of x are; NULL: each in its place */
    bool last;                        /* no other layer reads what this one makes */
    float *y;     /* [T, directions*hidden]; of the last one not the forward half */
    float *cells; /* [T, hidden], of the backward direction, if there is one */
};

/* What is wanted of a sequence, and what it took. */
struct cov_lstm_task {
    struct cov_rows rows;             /* of y: forward up to the end, backward down to beg; empty:
                                         nothing */
    const struct cov_row_plan *input; /* where rows of x are; NULL: each in its place */
    size_t x_padded;                  /* from this row on they are the padding's */
    size_t y_padded;                  /* out: from this one on rows of y are */
    size_t x_products, h_products;    /* out: rows of products that were made */
};

/* y[T, n, directions*hidden] of x[T, n, c_in], time-major, n <= COV_LSTM_ROWS, with a task for each
 * sequence; all of their rows, and nothing rests, if `full`. x and y do not overlap.
 *
 * padding: NULL, or finished by cov_lstm_run_padding, and not `full`. Then x is not read from x_padded on,
 * y is not complete from y_padded on, and what is wanted there is in padding->y. y_padded is T for the
 * last layer, and where the forward direction does not run to the end. */
void cov_lstm_run(const struct cov_lstm *f, size_t n, struct cov_lstm_task *tasks, bool full,
                  const struct cov_lstm_padding *padding, const float *x, float *y, float *scratch);

/* Makes copies of one row of those of x[T, c_in] of which all stand still by the first one. */
void cov_lstm_settle(const struct cov_lstm *f, const float *x, struct cov_row_plan *input);
/* Fills p->y and p->cells. */
void cov_lstm_run_padding(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                          float *scratch);
/* x_padded of a sequence that has row t of x[T, c_in], or what `input` puts in its place, at
 * x + t * x_stride: the first row from which on all stand still by the padding's. */
size_t cov_lstm_padded_from(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                            const struct cov_row_plan *input, const float *x, size_t x_stride);

#endif
