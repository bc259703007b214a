/* train_plan.h - a network in training as kernels: of each layer the products of the way forward and
 * back, and where, of the block of parameters, what they take comes from and what they make goes to. Knows no
 * card and no memory.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_TRAIN_PLAN_H
#define COV_COMPUTE_CUDA_TRAIN_PLAN_H

#include "common/compute/cuda/cuda_plan.h"

/* A growing list of ints. */
struct cov_train_places {
    int *v;
    size_t n, cap;
};

/* A product of rows with weights; `w`: where those are, in elements, among the packed ones of their type. */
struct cov_train_product {
    struct cov_cuda_gemm gemm; /* but for n and pointers */
    size_t w;
};

/* A gradient of weights. */
struct cov_train_outer {
    struct cov_cuda_outer outer; /* but for n, pointers, splits and stride */
    bool of_h;                   /* x is what the layer itself makes, not what it reads */
    size_t x_first, z_first;     /* elements */
    size_t at;                   /* in a split of the layer's partial sums */
};

/* Where sums go: block[to + i] for i < n, from place places[i] of partial sums, of which `places` are
 * at a place of the plan's lists; COV_TRAIN_IN_ORDER: place first + i. */
#define COV_TRAIN_IN_ORDER SIZE_MAX
struct cov_train_collect {
    bool of_columns; /* of sums over columns, not of outers */
    size_t to, n, places;
};

/* Where a norm's parameters are in the block. */
struct cov_train_norm_places {
    size_t gamma, beta, mean, var;
};

struct cov_train_layer {
    struct cov_layer layer;
    enum cov_cuda_products products; /* of BF16: rows read, and gradients of sums, are bf16 */
    struct cov_channels in, out;
    int width;        /* columns of the gradient of its sums */
    bool norm, drops; /* drops: the next layer reads what dropout leaves */
    bool applies;     /* y is another array than r, the ReLU's output */
    bool y_bf16;      /* what it makes, before dropout */
    bool next_bf16;   /* what the next layer reads */
    bool bf16_steps;  /* of an LSTM: on tensor cores */
    bool keeps_bf16;  /* of an LSTM: h as bf16 beside y, for its own gradients */

    struct cov_train_product *forward, *back; /* back: none of the first layer */
    size_t n_forward, n_back;
    size_t bias;            /* among the packed floats: [width] */
    size_t w_forth, w_back; /* of an LSTM's steps, among the packed ones */

    struct cov_train_outer *outers;
    size_t n_outers;
    size_t stride; /* floats of a split */
    struct cov_train_collect collects[8];
    size_t n_collects;
    struct cov_train_norm_places norm_places;
};

struct cov_train_plan {
    struct cov_train_layer *layers;
    size_t n_layers, n_floats;
    size_t length, depth, max_batch; /* max_batch: that kernels can count */
    int most_columns;                /* of a product */
    /* Pairs of places in the block, whose sum is an element of the packed floats, or bf16; -1: 0. */
    struct cov_train_places floats, halves;
    struct cov_train_places collected;
};

/* Reads of the spec the layers, where their weights are in the block, and dropout. COV_EUNSUPPORTED for what the
 * kernels cannot do. Free with cov_train_plan_fini, also after a failure. */
int cov_train_plan_init(const struct cov_training_spec *spec, struct cov_cuda_arithmetic arithmetic,
                        size_t shared_bytes, struct cov_train_plan *out,
                        struct cov_err *e) COV_MUST_USE;
void cov_train_plan_fini(struct cov_train_plan *plan);

#endif
