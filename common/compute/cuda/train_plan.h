/* train_plan.h - a network in training as a list of kernels. It has, for each layer, the products
 * of the forward and backward pass, the parameters that become their operands, and the places of
 * their results; and the layout of a card's memory. Independent of any card: all addresses are
 * offsets.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_TRAIN_PLAN_H
#define COV_COMPUTE_CUDA_TRAIN_PLAN_H

#include "common/compute/cuda/cuda_plan.h"

/* A growing list of ints. */
struct cov_train_places {
    int *v;
    size_t n, cap;
};

/* A product of rows with weights. */
struct cov_train_product {
    struct cov_cuda_gemm gemm; /* n and pointers unset */
    size_t w;                  /* first element among the packed operands of its type */
};

/* A gradient of weights. */
struct cov_train_outer {
    struct cov_cuda_outer outer; /* n, pointers, splits and stride unset */
    bool of_h;                   /* x is the h of the layer itself, not its input */
    size_t x_first, z_first;     /* elements */
    size_t at;                   /* first element in a split of the layer's partial sums */
};

/* Sums that become gradients. For i < n, block[to + i] is the sum at collected[places + i] (struct
 * cov_train_plan), or with COV_TRAIN_IN_ORDER the sum at i. */
#define COV_TRAIN_IN_ORDER SIZE_MAX
struct cov_train_collect {
    bool of_columns; /* column sums, not gradients of weights */
    size_t to, n, places;
};

/* Offsets of a norm's parameters in the block. */
struct cov_train_norm_places {
    size_t gamma, beta, mean, var;
};

struct cov_train_layer {
    struct cov_layer layer;
    enum cov_cuda_products products; /* BF16: the rows it reads and the gradients of its sums are
                                      * bf16 */
    struct cov_channels in, out;
    int width;        /* columns of the gradient of its sums */
    bool norm, drops; /* drops: dropout follows */
    bool applies;     /* y and r, the ReLU's output, are separate */
    bool y_bf16;      /* the output, before dropout */
    bool next_bf16;   /* the input of the next layer */
    bool bf16_steps;  /* LSTM: steps on tensor cores */
    bool resident;    /* LSTM: as in struct cov_cuda_lstm */
    bool keeps_bf16;  /* LSTM: keeps h as bf16, in addition to y, for its own gradients */

    struct cov_train_product *forward, *back; /* passes; the first layer has no back */
    size_t n_forward, n_back;
    size_t bias;            /* first of [width] among the packed floats */
    size_t w_forth, w_back; /* LSTM: weights of the steps, among the packed operands */

    struct cov_train_outer *outers;
    size_t n_outers;
    int splits;    /* of a sequence, in gradients of weights */
    size_t stride; /* floats of a split */
    struct cov_train_collect collects[8];
    size_t n_collects;
    struct cov_train_norm_places norm_places;
};

struct cov_train_plan {
    struct cov_train_layer *layers;
    size_t n_layers, n_floats;
    size_t n_nodes;                  /* of the card (conv_index.h); set by the training */
    size_t length, depth, max_batch; /* max_batch: limit of the kernels' ints */
    int most_columns;                /* most columns of any product */
    bool recompute;                  /* the spec's */
    /* Pairs of offsets in the block. An element of the packed floats or bf16 is the sum of the two
     * parameters there; offset -1 adds 0. */
    struct cov_train_places floats, halves;
    struct cov_train_places collected; /* offsets of partial sums */
};

/* Uses the layers of the spec, the offsets of their weights in the block, and dropout. Returns
 * COV_EUNSUPPORTED for layers that the kernels cannot run. Free with cov_train_plan_fini, even
 * after a failure. */
int cov_train_plan_init(const struct cov_training_spec *spec, struct cov_cuda_arithmetic arithmetic,
                        size_t shared_bytes, struct cov_train_plan *out,
                        struct cov_err *e) COV_MUST_USE;
void cov_train_plan_fini(struct cov_train_plan *plan);

/* ---- memory ---- */

/* The offsets of a layer's arrays; 0 if the layer has no such array. With recompute, these share
 * memory: gates and cells of all LSTMs, r of the convolutions after them, which are used before and
 * after them; and y of all convolutions. */
struct cov_train_layer_memory {
    size_t r;            /* float [n, t_out, out]: output of the ReLU; LSTM: h; last layer: p */
    size_t y;            /* the same after the norm, as the next layer reads it; may be r */
    size_t dropped;      /* y after dropout, as the next layer reads it; may be y */
    size_t h;            /* bf16 [n, t, out]: h for the layer's own gradients; may be y */
    size_t gates, cells; /* float [n, t, out, 4], [n, t, out] */
    /* Float [out] each; total: double [n_nodes][2][out]. */
    size_t mean, var, rstd, scale, shift, by_d, by_r, by_one, total;
};

struct cov_train_memory {
    struct cov_train_layer_memory *layers;
    size_t block, moment1, moment2, average, sum; /* float [n_floats] */
    size_t gradient;                              /* float [n_nodes][n_floats] */
    size_t statistic;                             /* uint8_t [n_floats] */
    size_t floats, halves;                        /* packed operands */
    size_t float_places, half_places, collected;  /* lists of the plan */
    size_t ones, zeros;                           /* float [most_columns] */
    size_t table, loss_weights;                   /* float [16, 4], [depth] */
    size_t partial, column_partial; /* float, double: partial sums of the current layer */
    size_t node, column_node;       /* float: sums of a node of the current layer */
    size_t slices, scores, rows;    /* double: loss */
    size_t sums;                    /* double [n_nodes][4]: loss */
    size_t squares, square_total;   /* double */
    size_t codes, targets, present; /* bases, targets and their presence in the batch */
    size_t now;                     /* struct cov_cuda_moment */
    size_t onehot;                  /* float or bf16 [n, L, 8] */
    size_t again; /* with recompute: y of the convolution before the current layer */
    size_t d;     /* float: gradient of the current layer's output */
    size_t z;     /* float or bf16: gradient of its sums */
    size_t bytes; /* total size */
};

/* Lays out the memory for batches of n chunks; offsets are in bytes. The caller allocates
 * mem->layers[n_layers]. Returns COV_ENOMEM if sizes overflow. */
int cov_train_lay_out(const struct cov_train_plan *plan, size_t n, struct cov_train_memory *mem,
                      struct cov_err *e) COV_MUST_USE;

#endif
