/* lstm_edits.h - an LSTM layer for sequences that differ from a known sequence in a few rows.
 *
 * The states and cells of the known sequence are kept. A direction of an edited sequence starts
 * with those before the first row of x that moved, i.e. differs. It stops after a step whose state
 * and cells equal the kept ones, within the tolerance, and starts again where x has moved again.
 * Sums over x are kept, too, for rows of x that have not moved.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_LSTM_EDITS_H
#define COV_COMPUTE_CPU_LAYERS_LSTM_EDITS_H

#include <stdint.h>

#include "common/compute/cpu/layers/lstm.h"

/* The tolerance, relative to the largest value of the kept state or of the kept cells. */
#define COV_LSTM_SETTLED 0x1p-19F

/* What is kept of a layer. T = t_in, C = directions * hidden. */
struct cov_lstm_kept {
    float *y, *cells; /* [T, C] */
    float *sums;      /* [directions, T, 4*hidden] w_ih x */
};

/* A sequence that differs from the kept one in the rows of x where x_moved[T] is not 0. */
struct cov_lstm_edit {
    const struct cov_lstm_kept *kept;
    const uint8_t *x_moved;
    const float *x;                /* [T, c_in]; read only where x_moved */
    struct cov_rows rows;          /* wanted rows of y, as in struct cov_lstm_task */
    uint8_t *y_moved;              /* [T] out: bit d is set where direction d differs */
    float *y;                      /* [T, C] out: filled only where y_moved */
    size_t x_products, h_products; /* out: rows of products that were computed */
};

/* Returns the floats of scratch that these functions need. */
size_t cov_lstm_edits_scratch(const struct cov_lstm *f);

/* Computes the arrays of kept[n] from x[n][T, c_in]. n <= COV_LSTM_ROWS. */
void cov_lstm_keep(const struct cov_lstm *f, size_t n, const float *const *x,
                   const struct cov_lstm_kept *const *kept, float *scratch);
/* Runs n <= COV_LSTM_ROWS edits side by side. The values of an edit do not depend on the others. */
void cov_lstm_run_edits(const struct cov_lstm *f, size_t n, struct cov_lstm_edit *edits,
                        float *scratch);

#endif
