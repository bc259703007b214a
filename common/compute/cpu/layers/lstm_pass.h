/* lstm_pass.h - one direction of an LSTM layer running over its sequences. lstm.c (products and
 * steps) uses lstm_resting.c, which decides what a pass skips; both use this state.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_LSTM_PASS_H
#define COV_COMPUTE_CPU_LAYERS_LSTM_PASS_H

#include <stdint.h>

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/cpu/layers/lstm_batch.h"

enum {
    COV_LSTM_STEPS = 16,       /* the most steps of a block */
    COV_LSTM_BLOCK_ROWS = 128, /* rows for all sequences; they fit in the cache with the weights */
};
#define COV_LSTM_NONE SIZE_MAX

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

/* The vector that a result was computed from. Vectors within `reach` of it give the same result. */
struct cov_lstm_anchor {
    const float *at; /* NULL: nothing has been computed yet */
    float reach;     /* NAN until it is needed */
};

/* One sequence. */
struct cov_lstm_sequence {
    size_t beg, end;          /* its steps; those before beg are the padding's */
    struct cov_lstm_anchor x; /* the x in its last sums over x */
    struct cov_lstm_anchor h; /* the h in its last gates */
    const float *gates;       /* [4*hidden] its last gates, in block.sums or kept_gates */
    size_t n_alike;           /* its last steps in the padding's state */
};

/* A few steps of all sequences, whose products with x are computed together: one row for each step of
 * a sequence at which x has moved. */
struct cov_lstm_block {
    float *x_rows; /* [BLOCK_ROWS, gathered or prepared row of x] */
    float *sums;   /* [BLOCK_ROWS, 4*hidden] sums over x, then over h, too, then gates */
    size_t row[COV_LSTM_STEPS][COV_LSTM_ROWS]; /* row of a step of a sequence; COV_LSTM_NONE */
    size_t n_moved[COV_LSTM_STEPS];            /* sequences that have a row */
};

struct cov_lstm_pass {
    const struct cov_lstm *f;
    size_t direction; /* 0: forward, 1: backward */
    struct cov_lstm_batch io;
    float *cells_out; /* [T, hidden] receives the cells of the backward direction of a single
                       * sequence; or NULL */

    struct cov_lstm_sequence seq[COV_LSTM_ROWS];
    float *cell;       /* [n, hidden] */
    float *x_sums;     /* [n, 4*hidden] last sums over x */
    float *kept_gates; /* [n, 4*hidden] last gates */

    struct cov_lstm_block block;
    struct {
        float *h;    /* [n, hidden] */
        float *sums; /* [n, 4*hidden] */
    } gathered;      /* sequences that move at a step at which others rest */
    float *zeros;    /* [hidden] h before the first step */
};

/* ---- places ---- */

/* Returns the row of a step. Backward directions start at the last row. */
static inline size_t cov_lstm_row(const struct cov_lstm_pass *p, size_t step)
{
    return p->direction ? p->f->layer.t_in - 1 - step : step;
}

/* Returns row t of x, or the row that it is a copy of. */
static inline const float *cov_lstm_planned_row(const struct cov_row_plan *plan, const float *x,
                                                size_t stride, size_t t)
{
    return x + (plan ? cov_plan_source(plan, t) : t) * stride;
}

/* Returns h of sequence b at row t, a part of y. */
static inline float *cov_lstm_h(const struct cov_lstm_pass *p, size_t b, size_t t)
{
    const struct cov_layer *l = &p->f->layer;
    return p->io.y + ((t * p->io.n + b) * l->directions + p->direction) * l->hidden;
}

/* Returns true if sequence b computes this step. */
static inline bool cov_lstm_runs(const struct cov_lstm_pass *p, size_t b, size_t step)
{
    return step >= p->seq[b].beg && step < p->seq[b].end;
}

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

#endif
