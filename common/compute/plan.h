/* plan.h - the rows of each layer that must be computed for a chunk, and those that are copies.
 *
 * In padding and in long runs of one code the input is constant. So is the output of a convolution
 * whose taps read only such rows (for a transposed one, the output is periodic with its stride).
 * Such a run is one period of computed rows and copies of them; near the end of a chunk, where taps
 * reach past it, rows are computed again. Rows are computed or copied only if another layer, or a
 * base, needs them. The plan depends only on the codes and the shapes of the layers.
 *
 * Ranges to compute start at multiples of cov_plan_unit and end there or with the layer, and copies
 * are whole units apart: a kernel may work in tiles of COV_PLAN_TILE rows (of a phase, in a
 * transposed convolution), with rounding that depends on the position in the tile.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_PLAN_H
#define COV_COMPUTE_PLAN_H

#include "common/compute/device.h"

enum {
    COV_PLAN_TILE = 12,
    COV_PLAN_RUNS = 16,   /* runs of a chunk that are used: the last ones */
    COV_PLAN_RANGES = 64, /* ranges of a layer; more are merged */
};

/* Rows beg .. end-1. */
struct cov_rows {
    size_t beg, end;
};

/* Row t of beg .. end-1 is row from + (t - from) % period. */
struct cov_copy {
    size_t beg, end, from, period;
};

/* The rows of a layer's output, or of the network's input. */
struct cov_row_plan {
    size_t n_ranges, n_copies, n_runs;
    struct cov_rows ranges[COV_PLAN_RANGES];                 /* to compute; ascending and not
                                                              * adjacent */
    struct cov_copy copies[COV_PLAN_RANGES + COV_PLAN_RUNS]; /* then; ascending */
    struct cov_copy runs[COV_PLAN_RUNS]; /* rows that may be copies: `from` is beg - period */
};

/* The number of rows in a unit of a layer's output. */
size_t cov_plan_unit(const struct cov_layer *layer);

/* plans[n_layers + 1]: of the input (one-hot rows of codes[L]) and of the output of each layer. An
 * LSTM has one range [beg, end): its forward direction is needed up to end, its backward direction
 * down to beg. All are empty if there is no base. */
void cov_plan(const struct cov_layer *layers, size_t n_layers, const uint8_t *codes,
              struct cov_row_plan *plans);

/* The same for a chunk of only padding, treating its first position as a base. */
void cov_plan_padding(const struct cov_layer *layers, size_t n_layers, struct cov_row_plan *plans);

/* The same with all rows computed. */
void cov_plan_full(const struct cov_layer *layers, size_t n_layers, struct cov_row_plan *plans);

/* Rows [0, head) and [tail, t) of a layer's t rows. */
struct cov_plan_ends {
    size_t head, tail;
};

/* For chunks whose rows from `filled` on are padding: ends[n_layers + 1], of the input and of the
 * output of each layer, are the rows to compute. Rows between them are not used, except before an
 * LSTM: there they equal row head - 1, bit for bit if rows do not depend on their position. For an
 * LSTM, tail is t: its forward direction is needed up to head, its backward direction everywhere.
 * All heads are 0 if nothing is filled. */
void cov_plan_padded(const struct cov_layer *layers, size_t n_layers, size_t filled,
                     struct cov_plan_ends *ends);
/* The same with all rows computed. */
void cov_plan_padded_full(const struct cov_layer *layers, size_t n_layers,
                          struct cov_plan_ends *ends);

/* Multiplications of a row of a convolution or the linear layer; of an LSTM, of a row of the
 * products with x, in one direction. */
double cov_plan_work_of_row(const struct cov_layer *layer);
/* Multiplications of an LSTM for these numbers of rows of products with x and with h. */
double cov_plan_work_of_lstm(const struct cov_layer *layer, size_t x_products, size_t h_products);

/* The row that row t is a copy of, or t. */
size_t cov_plan_source(const struct cov_row_plan *plan, size_t t);

#endif
