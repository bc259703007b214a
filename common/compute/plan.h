/* plan.h - which rows of each layer have to be computed for a chunk, and which are copies.
 *
 * Where a chunk is padding, or a long run of one code, the input is constant, and so is what a
 * convolution makes of it, as soon as its taps see nothing else (of a transposed one: periodic,
 * with its stride). Such a run is one period of computed rows, and copies of them; at the end of a
 * chunk the zeros beyond it are felt, and rows are computed again. And a row is computed or copied
 * only where another layer, or a base, needs it. All follows from the shapes of the layers; the
 * codes alone decide.
 *
 * Ranges to compute begin at multiples of cov_plan_unit, end there or with the layer, and copies
 * are whole units apart: a kernel may work in tiles of COV_PLAN_TILE rows (of a phase, in a
 * transposed convolution) and round by the place of a row in its tile.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_PLAN_H
#define COV_COMPUTE_PLAN_H

#include "common/compute/device.h"

enum {
    COV_PLAN_TILE = 12,
    COV_PLAN_RUNS = 16,   /* runs of a chunk that are made use of: the last ones */
    COV_PLAN_RANGES = 64, /* of a layer; more are merged */
};

/* Rows beg .. end-1. */
struct cov_rows {
    size_t beg, end;
};

/* Row t of beg .. end-1 is row from + (t - from) % period. */
struct cov_copy {
    size_t beg, end, from, period;
};

/* The rows of one layer: of its output, or of the network's input. */
struct cov_row_plan {
    size_t n_ranges, n_copies, n_runs;
    struct cov_rows ranges[COV_PLAN_RANGES];                 /* to compute; ascending and apart */
    struct cov_copy copies[COV_PLAN_RANGES + COV_PLAN_RUNS]; /* then; ascending */
    struct cov_copy runs[COV_PLAN_RUNS]; /* where copies may be: `from` is beg - period */
};

/* Rows of a unit of a layer's output. */
size_t cov_plan_unit(const struct cov_layer *layer);

/* plans[n_layers + 1]: of the input, which is the one-hot rows of codes[L], and of the output of
 * each layer. An LSTM has one range [beg, end): its forward direction is needed up to end, its
 * backward one down to beg. All are empty if there is no base. */
void cov_plan(const struct cov_layer *layers, size_t n_layers, const uint8_t *codes,
              struct cov_row_plan *plans);

/* The same for a chunk of nothing but padding, as if its first position was a base. */
void cov_plan_padding(const struct cov_layer *layers, size_t n_layers, struct cov_row_plan *plans);

/* The same with all rows computed. */
void cov_plan_full(const struct cov_layer *layers, size_t n_layers, struct cov_row_plan *plans);

/* Rows [0, head) and [tail, t) of a layer's t. */
struct cov_plan_ends {
    size_t head, tail;
};

/* For chunks of which rows from `filled` on are padding: ends[n_layers + 1], of the input and of the
 * output of each layer, are what has to be computed. What is between is of no use, but in front of
 * an LSTM: there it is equal to row head - 1, bit by bit if rows do not depend on their place. Of an
 * LSTM, tail is t: its forward direction is needed up to head, its backward one all along. All heads
 * are 0 if nothing is filled. */
void cov_plan_padded(const struct cov_layer *layers, size_t n_layers, size_t filled,
                     struct cov_plan_ends *ends);
/* The same with all rows computed. */
void cov_plan_padded_full(const struct cov_layer *layers, size_t n_layers,
                          struct cov_plan_ends *ends);

/* Multiplications of a row of a convolution or the linear layer; of an LSTM, of a row of the
 * products with x, in one direction. */
double cov_plan_work_of_row(const struct cov_layer *layer);
/* Multiplications of an LSTM with so many rows of products with x and with h. */
double cov_plan_work_of_lstm(const struct cov_layer *layer, size_t x_products, size_t h_products);

/* Where row t is: t, or what it is a copy of. */
size_t cov_plan_source(const struct cov_row_plan *plan, size_t t);

#endif
