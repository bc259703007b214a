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

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/cpu/layers/lstm_batch.h"
#include "common/compute/device.h"

/* One layer with its weights packed. */
struct cov_lstm;

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
