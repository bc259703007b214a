/* lstm.h - an LSTM layer for up to COV_LSTM_ROWS sequences side by side, which skips the products of
 * sequences that rest.
 *
 * The gates of a step depend on x[t] and h[t-1] only. As long as neither has moved by more than
 * COV_LSTM_STILL since the gates were computed, they are kept, and only c = f c + i g and
 * h = o tanh(c) are computed: cells continue to count. If x alone has not moved, its part of the sums
 * is kept. Distances are measured from the vectors that the gates were computed from, so that small
 * moves add up. Whether a sequence rests does not depend on the other sequences.
 *
 * All sequences end in the same padding, where most of the remaining work is done while the state
 * of the backward direction settles. That is computed once, for a chunk of only padding: where a
 * sequence's x equals that of the padding chunk row by row, within COV_LSTM_STILL, the sequence
 * uses the padding's rows, and its backward direction starts before them with the padding's cells.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_LSTM_H
#define COV_COMPUTE_CPU_LAYERS_LSTM_H

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/cpu/layers/lstm_batch.h"
#include "common/compute/device.h"

/* One layer with its weights packed. */
struct cov_lstm;

int cov_lstm_new(const struct cov_layer *layer, const struct cov_layer_weights *w,
                 const struct cov_gemm *gemm, const struct cov_vec *vec, struct cov_lstm **out,
                 struct cov_err *e) COV_MUST_USE;
void cov_lstm_free(struct cov_lstm *f); /* NULL is accepted */
/* Floats of scratch that it needs. */
size_t cov_lstm_scratch(const struct cov_lstm *f);

/* A call of lstm_batch.h. */
void cov_lstm_run(const struct cov_lstm *f, const struct cov_lstm_batch *batch, float *scratch);

/* In `input`, turns copies of a period of rows of x[T, c_in] that all equal the first, within
 * COV_LSTM_STILL, into copies of that row. */
void cov_lstm_settle(const struct cov_lstm *f, const float *x, struct cov_row_plan *input);
/* Fills p->y and p->cells. */
void cov_lstm_run_padding(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                          float *scratch);
/* The x_padded of a sequence: it and all later rows equal the padding's, within COV_LSTM_STILL. Row
 * t of x[T, c_in], or the row that `input` copies, is at x + t * x_stride. */
size_t cov_lstm_padded_from(const struct cov_lstm *f, const struct cov_lstm_padding *p,
                            const struct cov_row_plan *input, const float *x, size_t x_stride);

#endif
