/* lstm_resting.h - the work that a pass of an LSTM layer skips (lstm.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_LSTM_RESTING_H
#define COV_COMPUTE_CPU_LAYERS_LSTM_RESTING_H

#include "common/compute/cpu/layers/lstm_pass.h"

/* ---- sequences that rest ---- */

/* Returns true if x of this step differs from the x in the last sums over x, or may differ. */
bool cov_lstm_x_moved(struct cov_lstm_pass *p, size_t b, size_t step, const float *x);
/* Returns true if h equals the h in the last gates. */
bool cov_lstm_h_rests(struct cov_lstm_pass *p, size_t b, const float *h);
/* Called before the block's sums are overwritten: copies gates that a resting sequence still
 * needs. */
void cov_lstm_keep_gates(struct cov_lstm_pass *p);

/* ---- rows of the padding ---- */

/* Called before the forward direction: sets y_padded on the assumption that the forward direction
 * settles, too. */
void cov_lstm_expect_padding(const struct cov_lstm_pass *p, size_t b);
/* Called after a step of the forward direction: moves y_padded past rows that differ from the
 * padding's. */
void cov_lstm_compare_with_padding(struct cov_lstm_pass *p, size_t step);
/* Sets the state of a backward direction whose first step is seq[b].beg > 0. */
void cov_lstm_start_in_padding(const struct cov_lstm_pass *p, size_t b);

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
