/* kernels.h - the kernels of the plugin, as the host calls them: each function queues work on a stream
 * (runtime.h) and returns; cov_rt_launched reports whether that succeeded.
 *
 * All pointers are to device memory. n is the number of sequences of a batch. Activations are
 * channel-last, x[n, t, c], with c a multiple of 8, so that rows consist of whole vectors of 16 bytes.
 * The values of a sequence depend neither on the other sequences of the batch nor on its position in
 * the batch. Nor do the partial sums of a sequence, whose order depends on its sizes only; conv_index.h
 * defines the order of sums over a batch.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_KERNELS_H
#define COV_COMPUTE_CUDA_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compute/cuda/conv_index.h"

/* Operands of products; sums are always in single precision. */
enum cov_cuda_products {
    COV_CUDA_FP32,   /* single precision */
    COV_CUDA_TF32X3, /* each operand split into two tf32 terms, three products: error about 2^-21 */
    COV_CUDA_TF32,   /* operands rounded to tf32 */
    COV_CUDA_BF16,   /* operands rounded to bf16 */
};

/* ---- products of matrices: products_fp32.cu, products_mma.cu, products_wgmma.cu ---- */

/* A phase of a convolution, a linear layer, or the input product of an LSTM:
 *   y[b, out_first + out_stride t, o] = norm(relu(bias[o] + sum_k x[b, row of k, channel of k] w[k,o])),
 * with relu if requested, and norm(v) = v scale[o] + shift[o]; conv_index.h defines the rows and
 * channels. o < n_cols, a multiple of 8. */
struct cov_cuda_gemm {
    const void *x;                     /* [n, t_in, c]: float, or bf16 with COV_CUDA_BF16 */
    const void *w;                     /* see cov_cuda_gemm_sizes */
    const float *bias, *scale, *shift; /* [width] */
    void *
        y; /* [n, t_out, pitch]: float, bf16 if y_bf16, or fp16 if y_fp16, only with COV_CUDA_BF16 */
    int n, t_in, c, t_out, pitch, n_cols;
    struct cov_conv_phase phase;
    bool relu, y_bf16, y_fp16;
    bool wgmma;   /* by warpgroups, with COV_CUDA_BF16 or COV_CUDA_TF32 */
    int k, width; /* shape of w, from cov_cuda_gemm_sizes */
};

/* Sets k >= phase.n_taps * c and width >= n_cols, the shape of a product's weights. The surplus weights
 * are zero. */
void cov_cuda_gemm_sizes(enum cov_cuda_products products, struct cov_cuda_gemm *g);
/* Returns the index in w of the weight in row `row` and column `column`. With COV_CUDA_FP32, w is
 * float w[k, width]; else it is bf16 or float w[width, k], or in the order of cov_wgmma_place. With
 * wgmma, floats must have been rounded to tf32. */
size_t cov_cuda_gemm_weight(enum cov_cuda_products products, const struct cov_cuda_gemm *g, int row,
                            int column);
void cov_cuda_gemm(enum cov_cuda_products products, const struct cov_cuda_gemm *g, void *stream);
/* Returns true if products by warpgroups exist for these operands. */
bool cov_cuda_wgmma_can(enum cov_cuda_products products);

/* The gradient of the weights of a phase, as partial sums over splits of the rows m of each sequence:
 *   partial[b, split][tap * c + i, o] = sum over m of the split of x[row of m and tap, i] z[row of m, o].
 * A row of partial has n_cols floats; splits start `stride` floats apart. */
struct cov_cuda_outer {
    const void *x; /* [n, t_in, x_pitch], of which c channels are read: float, or bf16 */
    const void *z; /* [n, t_out, z_pitch], of which n_cols columns are read: same type as x */
    float *partial;
    int n, t_in, x_pitch, c, t_out, z_pitch, n_cols; /* pitches, c and n_cols are multiples of 8 */
    struct cov_conv_phase phase;
    int splits; /* of a sequence */
    size_t stride;
};

/* Returns the number of splits of a sequence with `rows` rows that keeps a card busy. */
int cov_cuda_outer_splits(int n_taps, int c, int n_cols, int rows);
/* x and z are bf16 with COV_CUDA_BF16. */
void cov_cuda_outer(enum cov_cuda_products products, const struct cov_cuda_outer *o, void *stream);

/* ---- the first layer and the last two: end_layers.cu ---- */

/* The first convolution, from base codes: y[b, t, o] = norm(relu(bias[o] + sum_k table[k, code, o])),
 * with the code of row t in_stride + first + k dilation; rows outside the sequence add 0. */
struct cov_cuda_first {
    const uint8_t *codes;              /* [n, (t_in + 1) / 2], packed by cov_codes_pack */
    const float *table;                /* [kernel, 16, c] */
    const float *bias, *scale, *shift; /* [c] */
    void *y;                           /* [n, t_out, c], float, or bf16 if y_bf16 */
    int n, t_in, t_out, c, kernel, dilation;
    struct cov_conv_phase phase; /* plain */
    bool y_bf16;
};
void cov_cuda_first_layer(const struct cov_cuda_first *f, void *stream);

/* A phase of the last convolution, which is transposed, and the last layer, in single precision:
 *   v[o] = norm(relu(bias[o] + sum_k x[b, row of k, channel of k] w[k, o])), o < COV_CUDA_LAST_CHANNELS,
 *   out[b, t, d] = exp(out_bias[d] + sum_o out_w[d, o] v[o]),
 * for the rows t of the phase. Where the base is padding, out is `pad` instead. */
enum { COV_CUDA_LAST_CHANNELS = 4 };
struct cov_cuda_last {
    const float *x;                    /* [n, t_in, c] */
    const float *w;                    /* [n_taps, depth_in, 4]; surplus weights are zero */
    const float *bias, *scale, *shift; /* [4] */
    const float *out_w, *out_bias;     /* [depth, 4], [depth] */
    const uint8_t *codes;              /* as for the first layer */
    float *out;                        /* [n, rows, depth] */
    int n, t_in, c, t_out, rows, depth;
    int depth_in; /* cov_cuda_last_depth(c) >= c */
    struct cov_conv_phase phase;
    float pad;
};
int cov_cuda_last_depth(int c);
void cov_cuda_last_layers(const struct cov_cuda_last *l, void *stream);

/* ---- LSTMs: lstm_fp32.cu, lstm_resident.cu, lstm_bf16.cu ---- */

/* The steps that an LSTM layer computes for a sequence. */
struct cov_cuda_extent {
    int head, tail;  /* rows [head, tail) have the gates of row head - 1 */
    int forward;     /* steps of the forward direction; backward runs all */
    int products[2]; /* out: per direction, the steps with products */
};

/* The steps of an LSTM layer. gates[b, t, direction, unit, i f g o] = w_ih x + b_ih + b_hh is an input.
 * Writes y[b, t, direction * units + u] = h, u < units. Units past the layer's own have zero weights
 * and gates, so their h is 0.
 *
 * The gates of a step depend on x[t] and h[t-1] only. With `rest`, a sequence reuses its gates as
 * long as neither x[t] nor h[t-1] has changed since the gates were computed. Then only c = f c + i
 * g and h = o tanh(c) are computed, and a block whose sequences all rest skips the products. In the
 * bf16 version, "changed" means that bits differ, so the values are the same with and without
 * `rest`, and the sequences of a block rest together. In the fp32 version it means a change larger
 * than about the rounding error of a sum, and each sequence is tested separately. */
struct cov_cuda_lstm {
    const float *gates;
    const uint16_t *gates_fp16;      /* NULL: gates; else fp16 instead, in the bf16 version */
    const void *w;                   /* see below */
    void *y;                         /* float, or bf16 if y_bf16 */
    struct cov_cuda_extent *extents; /* extents[b * extent_pitch] for sequence b */
    int n, t, directions, units, extent_pitch;
    bool y_bf16, rest;
    int priority; /* of the launch: with -1, blocks of other streams wait for these, which need whole
                    * multiprocessors and take milliseconds; 0: none */
    bool resident; /* in fp32: the weights fit into a multiprocessor */
};

/* The same in training: keeps gates and cells for the backward pass. */
struct cov_cuda_lstm_train {
    /* [n, t, direction, unit, 4]. In: w_ih x + b_ih + b_hh. After the forward pass: i, f, g, o after
     * sigmoid and tanh. */
    float *gates;
    float *cells; /* [n, t, direction, unit] */
    const void *w;
    int n, t, directions, units;
    bool resident;
    int multiprocessors; /* that are idle; 0: few. In bf16, blocks have half of the sequences if they suffice */
    /* Forward: */
    void *y; /* [n, t, direction, unit] h: float, or bf16 if y_bf16 */
    bool y_bf16;
    uint16_t *h_bf16; /* y as bf16, in addition to a float y; NULL: not needed */
    /* Backward: the gradient of the layer's output, and the gradient of the gates before sigmoid
     * and tanh. The latter may overwrite `gates` if it is float. */
    const float *dy; /* [n, t, direction, unit] */
    void *dgates;    /* like gates: float, or bf16 if dgates_bf16 */
    bool dgates_bf16;
};

/* The kernels in single precision, for any size. Weights are float w[direction, h, unit, gate], or
 * for the backward pass w[direction, unit of the gate, unit of h, gate]. units is a multiple of 8.
 * The functions *_fits return true if the kernels fit into this much shared memory per block. */
bool cov_cuda_lstm_fp32_fits(int units, size_t shared_bytes);
void cov_cuda_lstm_fp32(const struct cov_cuda_lstm *l, void *stream);
bool cov_cuda_lstm_train_fits(int units, size_t shared_bytes);
void cov_cuda_lstm_forward_fp32(const struct cov_cuda_lstm_train *l, void *stream);
void cov_cuda_lstm_backward_fp32(const struct cov_cuda_lstm_train *l, void *stream);
/* The same for up to COV_CUDA_LSTM_UNITS units, in multiples of 32, on cards with enough shared memory: a block keeps
 * the weights of a direction through all steps. The functions above call these for `resident` layers. */
bool cov_cuda_lstm_resident_fits(int units, size_t shared_bytes);
/* Returns the units of a layer in single precision, with padding: a multiple of 32 if that fits and adds at most a third. */
int cov_cuda_lstm_fp32_units(int hidden, size_t shared_bytes);
void cov_cuda_lstm_resident(const struct cov_cuda_lstm *l, void *stream);
void cov_cuda_lstm_resident_forward(const struct cov_cuda_lstm_train *l, void *stream);
void cov_cuda_lstm_resident_backward(const struct cov_cuda_lstm_train *l, void *stream);

/* The kernels with h, weights and the gradients of gates as bf16; dgates_bf16 is true. They support up
 * to COV_CUDA_LSTM_UNITS units, in multiples of 32. A block keeps the weights of a direction in
 * registers through all steps, as fragments: bf16 w[direction, warp, pair, k16, lane, reg, half]
 * (cov_lstm_fragment), with units / 8 warps and units / 16 k16; for the backward pass w[direction,
 * warp, k16, lane, reg, half] (cov_lstm_back_fragment), with units / 16 warps and units / 4 k16. */
enum { COV_CUDA_LSTM_UNITS = 128 };
bool cov_cuda_lstm_bf16_fits(int units, size_t shared_bytes);
void cov_cuda_lstm_bf16(const struct cov_cuda_lstm *l, void *stream);
void cov_cuda_lstm_forward_bf16(const struct cov_cuda_lstm_train *l, void *stream);
void cov_cuda_lstm_backward_bf16(const struct cov_cuda_lstm_train *l, void *stream);

/* ---- sequences after edits: lstm_bf16.cu, lstm_resident.cu, edit_rows.cu ---- */

/* A sequence that differs from an original in rows [beg, end) of a layer's x. */
struct cov_cuda_edit {
    int of;       /* the original */
    int beg, end; /* beg = end: nowhere */
    int row;      /* of `gates` that belongs to row beg */
    int limit
        [2]; /* rows that are wanted: forward those before limit[0], backward from limit[1] on */
    int stop[2]; /* out: forward computed rows [beg, stop[0]), backward [stop[1], end) */
};

/* The steps of an LSTM layer for such sequences. A direction starts with the kept h and cell of the
 * row before its first row of [beg, end). It stops after a row whose h and cells equal the kept ones
 * within LSTM_SETTLED (lstm_edits.h), once no row of x is left that differs, or where no row is wanted.
 * The same kernels compute the originals, with `cells`: from the first row to the last one. */
struct cov_cuda_lstm_edits {
    /* Float, or fp16 if gates_fp16, in the bf16 version. */
    const void *gates;       /* [rows, direction, unit, i f g o]: sums over rows of x that differ */
    const void *kept_gates;  /* [original, t, direction, unit, i f g o] */
    const void *kept_y;      /* [original, t, direction, unit], like y */
    const float *kept_cells; /* [original, t, direction, unit] */
    const void *w;           /* as for struct cov_cuda_lstm */
    void *y;      /* [n, t, direction, unit]: only computed rows; float, or bf16 if y_bf16 */
    float *cells; /* [n, t, direction, unit]; NULL: not wanted */
    struct cov_cuda_edit *edits; /* [n] */
    int n, t, directions, units;
    bool y_bf16, gates_fp16;
};
void cov_cuda_lstm_edits_bf16(const struct cov_cuda_lstm_edits *l, void *stream);
/* For layers that are `resident` (cov_cuda_lstm_resident_fits). */
void cov_cuda_lstm_edits_resident(const struct cov_cuda_lstm_edits *l, void *stream);

/* Copies `n` pieces of `bytes` bytes, a multiple of 16: piece i from from[i] to byte i * bytes of `to`. */
void cov_cuda_copy_rows(const void *const *from, void *to, int bytes, size_t n, void *stream);

/* ---- column sums and batch norm: train_kernels.cu ---- */

enum cov_cuda_column_kind {
    COV_CUDA_COLUMN_NORM,      /* sums of r and of r^2 */
    COV_CUDA_COLUMN_NORM_BACK, /* sums of dy and of dy x^, x^ = (r - mean) rstd */
    COV_CUDA_COLUMN_BACK,      /* z = by_d dy + by_r r + by_one where r > 0, else 0; sums of z */
    COV_CUDA_COLUMN_SUM,       /* sums of z */
};

/* Sums `width` columns over the rows of each slice of a sequence, into partial[n, slices][2][width].
 * Kinds with only one sum use the first half. */
struct cov_cuda_columns {
    enum cov_cuda_column_kind kind;
    const float *r, *dy;               /* [n, t, width] */
    const float *mean, *rstd;          /* [width] */
    const float *by_d, *by_r, *by_one; /* [width] */
    void *z;                           /* [n, t, width] */
    bool z_bf16;
    double *partial;
    int n, t, width;
};

/* Returns the number of slices of a sequence of t rows. */
int cov_cuda_column_slices(int t);
void cov_cuda_columns(const struct cov_cuda_columns *c, void *stream);

/* The vectors of a batch norm; they are 0 for channels past c. */
struct cov_cuda_norm {
    const double *total;       /* [2][width], over all `positions` of the batch */
    const float *gamma, *beta; /* [c] */
    float *mean, *rstd;        /* [width] */
    float *scale, *shift;      /* y = r scale + shift */
    float *by_d, *by_r, *by_one;
    float *var; /* [c] unbiased variance */
    double positions, eps;
    int c, width;
};
void cov_cuda_norm_forward(const struct cov_cuda_norm *n, void *stream);
void cov_cuda_norm_backward(const struct cov_cuda_norm *n, void *stream);

/* y[rows, width] = r scale + shift, float or bf16. */
struct cov_cuda_norm_apply {
    const float *r, *scale, *shift;
    void *y;
    bool y_bf16;
    size_t rows;
    int width;
};
void cov_cuda_norm_apply(const struct cov_cuda_norm_apply *a, void *stream);

/* ---- the loss: train_kernels.cu ---- */

struct cov_cuda_loss {
    float *p; /* [n, t, pitch], dataset d in column d: p, then exp(p), then the gradient */
    const uint8_t *codes;   /* packed, as for the first layer */
    const float *targets;   /* [n, t, depth]; < 0: masked */
    const uint8_t *present; /* [n, depth] */
    const float *weights;   /* [depth] */
    double *slices;         /* [n, cov_cuda_loss_slices(t), depth, 7] */
    double *scores;         /* [n, depth]: positions that count */
    double *rows;           /* [n, depth, 4]: weighted loss, accuracy, 1, weight; 0: no target */
    const double *sums;     /* [4]: sums of `rows` over the whole batch; not used by the score */
    int n, t, depth, pitch;
};
int cov_cuda_loss_slices(int t);
void cov_cuda_loss_score(const struct cov_cuda_loss *l, void *stream);
void cov_cuda_loss_backward(const struct cov_cuda_loss *l, void *stream);

/* ---- sums over a batch: train_kernels.cu ---- */

/* The sums, over the sequences of a node and their slices, of partial[sequence, slice][i]: to[i] for
 * i < n. Slices start `stride` elements apart. sum_columns and sum_doubles are for few elements. */
struct cov_cuda_sums {
    size_t stride, n;
    int slices; /* of a sequence */
    struct cov_parts parts;
    struct cov_node node;
};
void cov_cuda_sum_floats(const struct cov_cuda_sums *s, const float *partial, float *to,
                         void *stream);
void cov_cuda_sum_columns(const struct cov_cuda_sums *s, const double *partial, float *to,
                          void *stream);
void cov_cuda_sum_doubles(const struct cov_cuda_sums *s, const double *partial, double *to,
                          void *stream);

/* ---- operands from parameters, gradients to parameters, dropout: train_kernels.cu ---- */

/* Writes packed codes as one-hot rows x[n, t, 8], float or bf16, taken from table[16, 4]. The last
 * four columns are 0. */
void cov_cuda_onehot(const uint8_t *codes, const float *table, void *x, bool bf16, int n, int t,
                     void *stream);

/* Sets to[i], float or bf16, to block[places[2 i]] + block[places[2 i + 1]]; a place of -1 adds
 * 0. */
void cov_cuda_gather(const float *block, const int *places, void *to, bool bf16, size_t n,
                     void *stream);
/* Sets to[i] to from[places[i]], or to from[i] if `places` is NULL. */
void cov_cuda_collect(const float *from, const int *places, float *to, size_t n, void *stream);

/* What is different in each batch, in the card's memory, because a graph (runtime.h) keeps arguments. */
struct cov_cuda_moment {
    uint64_t step, first; /* first: the number of sequence 0 within the batch of all processes */
};

/* Copies `from` to to[n, t, width] with dropout (dropout.h). Columns without a channel are set to
 * 0. `to` may be `from` if both are float. */
struct cov_cuda_dropout {
    const float *from;
    void *to;
    bool to_bf16;
    const struct cov_cuda_moment *now;
    uint64_t seed, layer;
    uint32_t limit;
    float keep; /* 1 / (1 - p) */
    int n, t;
    struct cov_channels channels;
};
void cov_cuda_dropout(const struct cov_cuda_dropout *d, void *stream);

/* ---- the optimiser step: train_kernels.cu ---- */

/* Adds the gradient of a batch. Where statistic[i] is 1, `block` moves towards the gradient by
 * `momentum`. Elsewhere, `sum` becomes gradient if `first`, else sum + gradient; a step uses it
 * where statistic[i] is 0, and ignores it where the parameter is frozen, which is 2. */
struct cov_cuda_gradient {
    const float *gradient;
    const uint8_t *statistic;
    bool first;
    float momentum, *sum, *block;
    size_t n;
};
void cov_cuda_take_gradient(const struct cov_cuda_gradient *g, void *stream);
/* cov_cuda_squares sets *total to the sum of squares of all sum[i] with statistic[i] 0. It needs
 * partial[cov_cuda_square_slices(n)]. */
int cov_cuda_square_slices(size_t n);
void cov_cuda_squares(const float *sum, const uint8_t *statistic, size_t n, double *partial,
                      double *total, void *stream);

struct cov_cuda_adam {
    const float *sum; /* gradients */
    const uint8_t *statistic;
    float *block, *moment1, *moment2, *average;
    float scale, rest1, beta2, rest2, rate, root, eps, keep; /* as in cov_adam_step */
    float average_rest;                                      /* 0: no average */
    bool average_begins;
    size_t n;
};
void cov_cuda_adam_step(const struct cov_cuda_adam *a, void *stream);

#endif
