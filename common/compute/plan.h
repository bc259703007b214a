/* plan.h - what must be computed in a forward call: the chunks, and of each chunk, the rows of each
 * layer; everything else is a copy.
 *
 * Chunks are computed in the order of their filled length, longest first, so that neighbours have
 * similar padding, and equal ones only once.
 *
 * The input is constant in padding and in long runs of one code. Where all taps of a convolution
 * read such rows, its output is constant, too (in a transposed convolution, periodic with its
 * stride). Of such a run, one period is computed, and the other rows are copied from it. Near the
 * end of a chunk, where taps reach past the end, rows are computed again. A row is computed or
 * copied only if another layer or a base needs it. The plan depends only on the codes and the
 * shapes of the layers.
 *
 * A range to compute starts at a multiple of cov_plan_unit, and ends at a multiple or at the end of
 * the layer. The distance from a copy to its source is a multiple of the unit. So a kernel may work
 * in tiles of COV_PLAN_TILE rows (of a phase, in a transposed convolution) whose rounding depends
 * on the position in the tile.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_PLAN_H
#define COV_COMPUTE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/compute/device.h"

enum {
    COV_PLAN_TILE = 12,
    COV_PLAN_RUNS = 16,   /* the most runs per chunk: the last ones are used */
    COV_PLAN_RANGES = 64, /* the most ranges of a layer; others are merged */
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
    struct cov_copy copies[COV_PLAN_RANGES + COV_PLAN_RUNS]; /* copied afterwards; ascending */
    struct cov_copy runs[COV_PLAN_RUNS]; /* rows that may be copies: `from` is beg - period */
};

/* The number of rows in a unit of a layer's output. */
size_t cov_plan_unit(const struct cov_layer *layer);

/* Fills plans[n_layers + 1]: the plan of the input (one-hot rows of codes[L]), then that of each
 * layer's output. An LSTM has one range [beg, end): its forward direction is needed up to end, its
 * backward direction down to beg. All plans are empty if the chunk has no base. */
void cov_plan(const struct cov_layer *layers, size_t n_layers, const uint8_t *codes,
              struct cov_row_plan *plans);

/* Does the same for a chunk of only padding, treating its first position as a base. */
void cov_plan_padding(const struct cov_layer *layers, size_t n_layers, struct cov_row_plan *plans);

/* Does the same, but all rows are to be computed. */
void cov_plan_full(const struct cov_layer *layers, size_t n_layers, struct cov_row_plan *plans);

/* Rows [0, head) and [tail, t) of a layer's t rows. */
struct cov_plan_ends {
    size_t head, tail;
};

/* Plans a chunk whose rows from `filled` on are padding: ends[n_layers + 1] are the rows to
 * compute, of the input and of each layer's output. The rows from head to tail are not used, except
 * in the input of an LSTM, where they equal row head - 1 (bit for bit, if a row's values do not
 * depend on its position). For an LSTM, tail is t: its forward direction is needed up to head, its
 * backward direction everywhere. All heads are 0 if nothing is filled. */
void cov_plan_padded(const struct cov_layer *layers, size_t n_layers, size_t filled,
                     struct cov_plan_ends *ends);
/* Does the same, but all rows are to be computed. */
void cov_plan_padded_full(const struct cov_layer *layers, size_t n_layers,
                          struct cov_plan_ends *ends);

/* Returns the rows of a layer's output, not an LSTM, that some row of its input `in` reaches. */
struct cov_rows cov_plan_reached(const struct cov_layer *l, struct cov_rows in);
/* Returns the rows of a layer's input that rows beg .. end-1 of its output are computed from; of an LSTM,
 * all that its states depend on. */
struct cov_rows cov_plan_rows_read(const struct cov_layer *l, size_t beg, size_t end);
/* Plans only what layers [of.beg, of.end), without LSTMs, need for `rows` of the last one's output:
 * each of plans[of.beg .. of.end] has one range, in whole units, and no copies. */
void cov_plan_part(const struct cov_layer *layers, struct cov_rows of, struct cov_rows rows,
                   struct cov_row_plan *plans);

/* Returns the multiplications for one row of a convolution or the linear layer, or for one row of
 * an LSTM's products with x in one direction. */
double cov_plan_work_of_row(const struct cov_layer *layer);
/* Returns the multiplications of an LSTM that computes this many rows of products with x and with
 * h. */
double cov_plan_work_of_lstm(const struct cov_layer *layer, size_t x_products, size_t h_products);

/* Returns the row that row t is a copy of, or t if it is not a copy. */
size_t cov_plan_source(const struct cov_row_plan *plan, size_t t);

/* ---- the chunks of a call ---- */

struct cov_ordered_chunk {
    size_t index;   /* within the call */
    size_t same_as; /* index of an equal chunk to compute instead, or its own index */
    size_t filled;  /* positions before its padding */
    uint64_t hash;  /* hash of its codes */
};

/* One per caller. */
struct cov_chunk_order {
    size_t L, row; /* positions of a chunk; floats of its values */
    bool full;     /* set by the caller: compute all, in the order of the call */
    struct cov_ordered_chunk *todo;
    size_t n_todo;
    uint64_t n_repeated; /* chunks that were copied, over all calls */

    struct cov_ordered_chunk *chunks;
    size_t n;
    float *all_n;            /* [row] values of a chunk that is all N; NULL: not known yet */
    const float *computed_n; /* where this call writes these values */
};

/* For calls of up to max_batch chunks of L positions with `depth` values per position. */
int cov_chunk_order_init(struct cov_chunk_order *o, size_t L, size_t depth, size_t max_batch,
                         struct cov_err *e) COV_MUST_USE;
void cov_chunk_order_fini(struct cov_chunk_order *o); /* accepts an all-zero struct */

/* Sets todo[0..n_todo) to the chunks of codes[n,L] that must be computed. The caller writes the
 * values of each chunk to out[index * row .. (index + 1) * row). */
void cov_chunk_order_begin(struct cov_chunk_order *o, size_t n, const uint8_t *codes, float *out);
/* Copies the values of the other chunks. Call it once all chunks of `todo` are computed. */
void cov_chunk_order_end(struct cov_chunk_order *o, float *out);

#endif
