/* lstm.h - an LSTM layer of up to COV_LSTM_ROWS sequences side by side, whose products rest where
 * nothing moves.
 *
 * The gates of a step depend on x[t] and h[t-1] alone. While neither has moved by more than
 * COV_VEC_STILL since they were last computed, the gates are kept, and only c = f c + i g and
 * h = o tanh(c) are done: a cell goes on counting. While x alone stands still, its part of the sums is
 * kept. The distance is that from what the gates were computed of, so that small moves add up to a
 * new computation. What a sequence does depends on itself alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LSTM_H
#define COV_COMPUTE_CPU_LSTM_H

#include "common/compute/cpu/gemm.h"
#include "common/compute/cpu/vec.h"
#include "common/compute/device.h"
#include "common/compute/plan.h"

/* The most sequences that run through an LSTM side by side. */
#define COV_LSTM_ROWS ((size_t)16)

/* One layer with its weights packed. */
struct cov_lstm;

int cov_lstm_new(const struct cov_layer *layer, const struct cov_layer_weights *w,
                 const struct cov_gemm *gemm, const struct cov_vec *vec, struct cov_lstm **out,
                 struct cov_err *e) COV_MUST_USE;
void cov_lstm_free(struct cov_lstm *f); /* NULL is accepted */
/* Floats of scratch that running it needs. */
size_t cov_lstm_scratch(const struct cov_lstm *f);

/* What is wanted of a sequence, and what it took. */
struct cov_lstm_task {
    struct cov_rows rows;             /* of y: forward up to the end, backward down to beg; empty:
                                         nothing */
    const struct cov_row_plan *input; /* where rows of x are; NULL: each in its place */
    size_t x_products, h_products;    /* out: rows of products that were made */
};

/* y[T, n, directions*hidden] of x[T, n, c_in], time-major, n <= COV_LSTM_ROWS, with a task for each
 * sequence; all of their rows, and nothing rests, if `full`. x and y do not overlap. */
void cov_lstm_run(const struct cov_lstm *f, size_t n, struct cov_lstm_task *tasks, bool full,
                  const float *x, float *y, float *scratch);

#endif
