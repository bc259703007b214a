/* lstm.h - an LSTM layer for up to COV_LSTM_ROWS sequences side by side, which skips the products
 * of sequences that rest.
 *
 * The gates of a step depend only on x[t] and h[t-1]. While neither has moved by more than the
 * layer's tolerance (struct cov_lstm_rest) since the gates were computed, the gates are kept, and a
 * step computes only c = f c + i g and h = o tanh(c): cells still change. If h has moved but x has
 * not, the sums over x are kept. Distances are measured from the vectors that the gates were
 * computed from, so that small moves add up. Whether a sequence rests does not depend on the other
 * sequences.
 *
 * All sequences end in the same padding. Most of the remaining work is done there, while the state
 * of the backward direction settles. So the padding is computed once, as a chunk of only padding.
 * From the row on where the x of a sequence equals that chunk's x, within the tolerance, the
 * sequence uses the chunk's rows. The backward direction of the sequence starts before that row,
 * with the chunk's cells.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_LSTM_H
#define COV_COMPUTE_CPU_LAYERS_LSTM_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/device.h"
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

/* One layer with its weights packed. */
struct cov_lstm {
    struct cov_layer layer;
    const struct cov_gemm *gemm;
    const struct cov_vec *vec;
    struct cov_lstm_rest rest;
    float *bias;                 /* [directions, 4*hidden] */
    struct cov_matrix w_ih[2];   /* [c_in, 4*hidden] */
    struct cov_matrix w_hh[2];   /* [hidden, 4*hidden] */
    struct cov_matrix w_step[2]; /* w_ih, then w_hh, in the order of gemm.h; or empty */
};

int cov_lstm_new(const struct cov_layer *layer, const struct cov_layer_weights *w,
                 const struct cov_gemm *gemm, const struct cov_vec *vec, struct cov_lstm_rest rest,
                 struct cov_lstm **out, struct cov_err *e) COV_MUST_USE;
void cov_lstm_free(struct cov_lstm *f); /* NULL is accepted */
/* Returns the floats of scratch that the layer needs. */
size_t cov_lstm_scratch(const struct cov_lstm *f);

/* Runs the layer on a batch. */
void cov_lstm_run(const struct cov_lstm *f, const struct cov_lstm_batch *batch, float *scratch);

/* Fills p->y and p->cells. */
void cov_lstm_run_padding(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                          float *scratch);

/* ---- where padding begins ---- */

/* Simplifies `input`: if all rows of a period of x[T, c_in] equal its first row, within
 * the tolerance, copies of the period become copies of that row. */
void cov_lstm_settle(const struct cov_lstm *f, const float *x, struct cov_row_plan *input);
/* Returns x_padded of a sequence: this row and all later ones equal the padding's, within
 * the tolerance. Row t of x[T, c_in] is at x + t * x_stride; if `input` makes it a copy, its
 * source is read instead. */
size_t cov_lstm_padded_from(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                            const struct cov_row_plan *input, const float *x, size_t x_stride);

#endif
