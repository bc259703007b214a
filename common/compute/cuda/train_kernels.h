/* train_kernels.h - the kernels of training, beside those of kernels.h, whose words hold here too. Sums
 * are in an order that sizes alone decide: the same input gives the same bits.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_TRAIN_KERNELS_H
#define COV_COMPUTE_CUDA_TRAIN_KERNELS_H

#include "common/compute/cuda/kernels.h"

/* ---- gradients of weights: outer_fp32.cu, outer_mma.cu ---- */

/* Of a phase, as cov_cuda_gemm has them, in pieces of the sum over its rows:
 *   partial[split][tap * c + i, o] = sum over rows m of the split of x[row of m and tap, i] z[row of m, o].
 * A row of partial has n_cols floats; a split begins `stride` floats behind the one before. */
struct cov_cuda_outer {
    const void *x; /* [n, t_in, x_pitch], of which c channels are read: float, or bf16 */
    const void *z; /* [n, t_out, z_pitch], of which n_cols columns are read: the same type */
    float *partial;
    int n, t_in, x_pitch, c, t_out, z_pitch, n_cols; /* pitches, c and n_cols are multiples of 8 */
    struct cov_conv_phase phase;
    int splits;
    size_t stride;
};

/* How many splits keep a card busy, for so many rows of all sequences. */
int cov_cuda_outer_splits(int n_taps, int c, int n_cols, size_t rows);
/* x and z are bf16 with COV_CUDA_BF16. */
void cov_cuda_outer(enum cov_cuda_products products, const struct cov_cuda_outer *o, void *stream);
void cov_cuda_outer_fp32(const struct cov_cuda_outer *o, void *stream);
void cov_cuda_outer_mma(enum cov_cuda_products products, const struct cov_cuda_outer *o,
                        void *stream);

/* ---- what is done column by column: columns.cu ---- */

enum cov_cuda_column_kind {
    COV_CUDA_COLUMN_NORM,      /* sums of r, and of r^2 */
    COV_CUDA_COLUMN_NORM_BACK, /* of dy, and of dy x^, x^ = (r - mean) rstd */
    COV_CUDA_COLUMN_BACK,      /* z = by_d dy + by_r r + by_one where r > 0, else 0; sums of z */
    COV_CUDA_COLUMN_SUM,       /* of z */
};

/* Over rows of `width` columns, in slices; partial[slice][2][width], of which the kinds with one sum
 * use the first half. */
struct cov_cuda_columns {
    enum cov_cuda_column_kind kind;
    const float *r, *dy;               /* [rows, width] */
    const float *mean, *rstd;          /* [width] */
    const float *by_d, *by_r, *by_one; /* [width] */
    void *z;                           /* [rows, width] */
    bool z_bf16;
    double *partial;
    size_t rows;
    int width;
};

int cov_cuda_column_slices(size_t rows);
void cov_cuda_columns(const struct cov_cuda_columns *c, void *stream);

/* total[n] = sum over slices of partial[slice][n], n <= pitch apart. */
void cov_cuda_column_total(const double *partial, int slices, int pitch, int n, double *total,
                           void *stream);

/* A norm's vectors, 0 for channels beyond c. */
struct cov_cuda_norm {
    const double *total;       /* [2][width], of all `positions` of the batch */
    const float *gamma, *beta; /* [c] */
    float *mean, *rstd;        /* [width] */
    float *scale, *shift;      /* y = r scale + shift */
    float *by_d, *by_r, *by_one;
    float *batch_mean, *batch_var; /* [c] mean and unbiased variance */
    double positions, eps;
    int c, width;
};
void cov_cuda_norm_forward(const struct cov_cuda_norm *n, void *stream);
void cov_cuda_norm_backward(const struct cov_cuda_norm *n, void *stream);

/* y[rows, width] = r scale + shift, float or bf16. */
void cov_cuda_norm_apply(const float *r, const float *scale, const float *shift, void *y,
                         bool y_bf16, size_t rows, int width, void *stream);

/* ---- steps of LSTMs: lstm_train_fp32.cu, lstm_train_bf16.cu ---- */

struct cov_cuda_lstm_train {
    /* [n, t, direction, unit, 4]; before: w_ih x + b_ih + b_hh; behind the way forward: i, f, g, o after
     * sigmoid and tanh. */
    float *gates;
    float *cells; /* [n, t, direction, unit] */
    const void *w;
    int n, t, directions, units;
    /* Forward: */
    void *y; /* [n, t, direction, unit] h: float, or bf16 if y_bf16 */
    bool y_bf16;
    uint16_t *h_bf16; /* the same as bf16, beside a y that is float; NULL: not wanted */
    /* Backward: the gradient by h of what is above, and that by what stands before sigmoid and tanh,
     * which may be in the place of gates if it is float. */
    const float *dy; /* [n, t, direction, unit] */
    void *dgates;    /* as gates: float, or bf16 if dgates_bf16 */
    bool dgates_bf16;
};

/* In single precision. Weights float w[direction, h, unit, gate] on the way forward, and on the way
 * back w[direction, unit whose gate, unit of h, gate]. */
bool cov_cuda_lstm_train_fits(int units, size_t shared_bytes);
void cov_cuda_lstm_forward_fp32(const struct cov_cuda_lstm_train *l, void *stream);
void cov_cuda_lstm_backward_fp32(const struct cov_cuda_lstm_train *l, void *stream);

/* With h, weights, and gradients of gates as bf16, which dgates are, for up to COV_CUDA_LSTM_UNITS units, which are
 * a multiple of 32. Weights are fragments, forward as those of cov_cuda_lstm_bf16, back
 * bf16 w[direction, warp, k16, lane, reg, half] (cov_lstm_back_fragment), units / 16 warps, units / 4
 * k16. */
void cov_cuda_lstm_forward_bf16(const struct cov_cuda_lstm_train *l, void *stream);
void cov_cuda_lstm_backward_bf16(const struct cov_cuda_lstm_train *l, void *stream);

/* ---- the loss: train_loss.cu ---- */

struct cov_cuda_loss {
    float *p; /* [n, t, pitch], data set d in column d: p, then exp(p), then the gradient */
    const uint8_t *codes;   /* packed, as of the first layer */
    const float *targets;   /* [n, t, depth] */
    const uint8_t *present; /* [n, depth] */
    const float *weights;   /* [depth] */
    double *slices;         /* [n, cov_cuda_loss_slices(t), depth, 7] */
    double *scores;         /* [n, depth]: columns of a row */
    double *sums;           /* [4]: weighted losses, accuracies, rows, weights */
    int n, t, depth, pitch;
};
int cov_cuda_loss_slices(int t);
void cov_cuda_loss_score(const struct cov_cuda_loss *l, void *stream);
/* With the sums of the whole batch. */
void cov_cuda_loss_backward(const struct cov_cuda_loss *l, void *stream);

/* ---- what goes to and from the parameters: train_pack.cu ---- */

/* One-hot rows of packed codes: x[n, t, 8], float or bf16, the last four columns 0; table[16, 4]. */
void cov_cuda_onehot(const uint8_t *codes, const float *table, void *x, bool bf16, int n, int t,
                     void *stream);

/* to[i] = block[places[2 i]] + block[places[2 i + 1]], those of -1 are 0; float or bf16. */
void cov_cuda_gather(const float *block, const int *places, void *to, bool bf16, size_t n,
                     void *stream);
/* to[i] = sum over splits s of partial[s stride + places[i]], or of partial[s stride + i] without
 * places. */
void cov_cuda_collect_floats(const float *partial, size_t stride, int splits, const int *places,
                             float *to, size_t n, void *stream);
void cov_cuda_collect_doubles(const double *partial, size_t stride, int splits, const int *places,
                              float *to, size_t n, void *stream);

/* What dropout leaves of from[n, t, width], the others 0 (dropout.h); what is no channel is 0 too. to
 * may be from, if float. */
struct cov_cuda_dropout {
    const float *from;
    void *to;
    bool to_bf16;
    uint64_t seed, step, layer, first; /* first: number of sequence 0 in the batch */
    uint32_t limit;
    float keep; /* 1 / (1 - p) */
    int n, t;
    struct cov_channels channels;
};
void cov_cuda_dropout(const struct cov_cuda_dropout *d, void *stream);

/* ---- the step: optimiser.cu ---- */

/* Where statistic[i] is 0, sum = gradient, or sum + gradient unless `first`; else block moves by `momentum`
 * towards the gradient. */
void cov_cuda_take_gradient(const float *gradient, const uint8_t *statistic, bool first,
                            float momentum, float *sum, float *block, size_t n, void *stream);
/* *total = sum of squares of sum[i], of what is no statistic; partial[cov_cuda_square_slices(n)]. */
int cov_cuda_square_slices(size_t n);
void cov_cuda_squares(const float *sum, const uint8_t *statistic, size_t n, double *partial,
                      double *total, void *stream);

struct cov_cuda_adam {
    const float *sum; /* gradients */
    const uint8_t *statistic;
    float *block, *moment1, *moment2, *average;
    float scale, rest1, beta2, rest2, rate, root, eps; /* as net/adam.c has them */
    float average_rest;                                /* 0: no average */
    bool average_begins;
    size_t n;
};
void cov_cuda_adam_step(const struct cov_cuda_adam *a, void *stream);

#endif
