/* training.h - training, specified by tests/lib/reference/ref_train.h, on matrix products (gemm.h,
 * toom_cook.h), sums of outer products (outer.h) and element-wise kernels (vec.h), in single
 * precision or with products in bf16.
 *
 * Work is split into fixed pieces of layers and sequences, and rows of a product do not depend on
 * one another, so results do not depend on the number of threads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_TRAIN_TRAINING_H
#define COV_COMPUTE_CPU_TRAIN_TRAINING_H

#include "common/base/pool.h"
#include "common/compute/cpu/kernels/outer.h"
#include "common/compute/cpu/layers/conv.h"
#include "common/compute/cpu/layers/precision.h"
#include "common/compute/device.h"
#include "common/seq/alphabet.h"

/* Trains with these kernels, which compute in single precision, and with operands of products as
 * `arithmetic` says. */
int cov_cpu_training_new(const struct cov_cpu_kernels *kernels,
                         const struct cov_cpu_arithmetic *arithmetic,
                         const struct cov_training_spec *spec, struct cov_training **out,
                         struct cov_err *e) COV_MUST_USE;

/* Returns true if a position counts in the loss: it is neither padding nor masked. */
static inline bool cov_train_counts(uint8_t code, float target)
{
    return code != COV_CODE_PAD && !(target < 0);
}
/* Computes the batch's score over all processes from scores[n_chunks, D, 3]: the loss, the accuracy
 * and the number of columns (0: not counted) of each row. Sets *weight_sum to the sum of the
 * weights of rows. Reads loss_weights (not NULL) and reduce from the spec. Returns COV_EINPUT if
 * the loss is not finite. */
int cov_train_batch_score(const struct cov_training_spec *spec, const double *scores,
                          size_t n_chunks, size_t D, struct cov_train_score *score,
                          double *weight_sum, struct cov_err *e) COV_MUST_USE;

/* ---- the state of a training, for the files of this directory ----
 *
 * Calls go from training.c to the files of layers and to train_memory.c. */

/* Row t of sequence b is at data + t * row + b * seq. */
struct cov_view {
    float *data;
    size_t row, seq;
};

/* The rows of a sequence, in pieces of equal length. Work is split only between pieces. */
struct cov_pieces {
    size_t n, rows, total; /* rows of each piece except the last; rows of all pieces */
};

struct cov_train_toom_cook;

struct cov_train_layer {
    struct cov_layer layer, back;     /* the convolution that computes the gradient of the input */
    struct cov_layer_weights weights; /* pointers into the block */
    bool norm, drops;
    enum cov_arithmetic operands; /* of a convolution */
    const struct cov_outer *outer;
    const struct cov_gemm *gemm;         /* the kernels of an LSTM's products */
    struct cov_train_toom_cook *minimal; /* gradients of weights; NULL: direct sums of products */

    /* The parameters, packed. */
    struct cov_conv *forward, *backward; /* backward: NULL up to the first trained layer, unless
                                                * inputs are explained */
    struct cov_matrix w_ih[2], w_hh[2];  /* [c_in, 4*hidden], [hidden, 4*hidden] */
    struct cov_matrix back_ih[2], back_hh[2]; /* transposed */
    float *bias;                              /* [directions, 4*hidden] */

    /* Results of the forward pass. Arrays of train_memory.c; some may share memory. */
    float *r;       /* before the norm; NULL: y */
    float *y;       /* the output; in the last layer its exponential */
    float *dropped; /* the input of the next layer, perhaps in place of y; NULL: y */
    float *gates;   /* [directions, T, n, 4*hidden], then their gradients */
    float *cells;   /* [directions, T, n, hidden] */

    struct cov_pieces pieces, back_pieces; /* pieces of the output; of the input */
    double *sums;                          /* [max_batch, pieces, 2*c_out] */
    double *total;        /* [2*c_out + 1], sums over all processes; the last is the number of
                           * positions */
    float *mean, *rstd;   /* [c_out], of a norm */
    float *scale, *shift; /* its y = r scale + shift */
    float *by_d, *by_r, *by_one; /* dz = by_d dy + by_r r + by_one */
};

struct cov_cpu_training {
    struct cov_training base;
    struct cov_training_spec spec;  /* only the fields that outlive the spec */
    struct cov_cpu_kernels kernels; /* in single precision */
    struct cov_cpu_arithmetic arithmetic;
    struct cov_train_layer *layers;
    size_t n_layers, n_workers;
    float *loss_weights; /* [D] */
    float *onehot;       /* [max_batch, L, 4] */
    float *d;     /* [max_batch, the largest layer] gradient of the current layer's output, then
                          * of its input */
    float *z;     /* gradient of a convolution's sums, [max_batch, t_out, c_out] */
    float *again; /* the y of convolutions that are computed again for the next layer */
    float *again_lstm; /* the same, if the next layer is an LSTM */
    float **arrays;    /* [n_arrays]. Owned, as is each */
    size_t n_arrays, cap_arrays;
    float **scratch; /* [n_workers] */
    size_t scratch_size;
    double *scores;      /* [max_batch, D, 3]: loss, accuracy, columns */
    double *linear_sums; /* [max_batch, D*(4+1)]: gradients of the last layer */

    /* During a run: */
    const struct cov_train_batch *batch;
    float *gradient;
    uint64_t step;
    size_t layer;      /* the current one */
    size_t n_tiles;    /* items of outer products of a convolution's backward pass */
    double *bias_sums; /* [items, directions*4*hidden] of an LSTM */
    double weight_sum;
};

/* ---- places ---- */

/* Returns a new array of n floats, owned by *t; sets *failed without memory. */
float *cov_train_array(struct cov_cpu_training *t, size_t n, bool *failed, struct cov_err *e);
bool cov_train_is_lstm(const struct cov_cpu_training *t, size_t i);
/* Return the views of layer i's input and output, and of its r. `d` has the view of y, then that of
 * x. */
struct cov_view cov_train_input(const struct cov_cpu_training *t, size_t i);
struct cov_view cov_train_output(const struct cov_cpu_training *t, size_t i);
struct cov_view cov_train_before_norm(const struct cov_cpu_training *t, size_t i);
/* Returns a view of the same elements of another array. */
struct cov_view cov_train_at(struct cov_view like, float *data);
/* Returns the address of a parameter's gradient. */
float *cov_train_gradient(const struct cov_cpu_training *t, const float *parameter);

struct cov_rows cov_train_piece(const struct cov_pieces *p, size_t i);

/* The largest tile of a gradient of weights. */
enum { COV_TRAIN_TILE_ROWS = 384, COV_TRAIN_TILE_COLUMNS = 256 };

/* ---- convolutions of t->layer: train_conv.c ---- */

int cov_train_conv_pack(struct cov_cpu_training *t, size_t i, struct cov_err *e) COV_MUST_USE;
size_t cov_train_conv_scratch(const struct cov_cpu_training *t, size_t i);
int cov_train_conv_forward(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;
int cov_train_conv_backward(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;
/* Computes y of convolution i again: from r, or with `from_input` from its input. */
int cov_train_conv_again(struct cov_cpu_training *t, size_t i, bool from_input,
                         struct cov_err *e) COV_MUST_USE;

/* ---- gradients of weights by minimal filtering: train_toom_cook.c ---- */

/* Returns true if minimal filtering (toom_cook.h) can be used for a layer and is faster than sums of
 * outer products of these operands. */
bool cov_train_toom_cook_pays(const struct cov_layer *l, enum cov_arithmetic outer);
int cov_train_toom_cook_new(const struct cov_layer *l, const struct cov_toom_cook_kernels *kernels,
                            struct cov_train_toom_cook **out, struct cov_err *e) COV_MUST_USE;
void cov_train_toom_cook_free(struct cov_train_toom_cook *m); /* NULL is accepted */
size_t cov_train_toom_cook_scratch(const struct cov_train_toom_cook *m);
/* Each item computes some products; items may run in any order. Then the last function computes the
 * taps of input channel i. */
size_t cov_train_toom_cook_items(const struct cov_train_toom_cook *m);
void cov_train_toom_cook_item(const struct cov_cpu_training *t, const struct cov_train_toom_cook *m,
                              size_t item, float *scratch);
cov_task_fn cov_train_toom_cook_finish;

/* ---- LSTMs: train_lstm.c ---- */

int cov_train_lstm_pack(struct cov_cpu_training *t, size_t i, struct cov_err *e) COV_MUST_USE;
size_t cov_train_lstm_scratch(const struct cov_cpu_training *t, size_t i);
int cov_train_lstm_forward(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;
/* Computes y, gates and cells again, without dropout. */
int cov_train_lstm_again(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;
int cov_train_lstm_backward(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;

/* ---- activations: train_memory.c ---- */

int cov_train_make_activations(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;

/* ---- the last layer and the loss: train_score.c ---- */

int cov_train_score_batch(struct cov_cpu_training *t, struct cov_train_score *score,
                          struct cov_err *e) COV_MUST_USE;
int cov_train_loss_backward(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;
/* Sets sums[n] (device.h, explain), and t->d to their gradients with respect to the input of the last
 * layer. */
int cov_train_sums_backward(struct cov_cpu_training *t, const struct cov_explain_batch *batch,
                            double *sums, struct cov_err *e) COV_MUST_USE;

#endif
