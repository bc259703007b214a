/* train_memory.h - where everything of a training stands on a card: one piece of memory, of which each array
 * has its offset, in bytes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_TRAIN_MEMORY_H
#define COV_COMPUTE_CUDA_TRAIN_MEMORY_H

#include "common/compute/cuda/train_plan.h"

/* Of a layer; what it has none of is 0. */
struct cov_train_layer_memory {
    size_t r; /* float [n, t_out, out]: what the ReLU leaves; of an LSTM h; of the last layer p */
    size_t y; /* the same with the norm, as the next layer reads it; r where that is the same */
    size_t dropped; /* what the next layer reads of an LSTM; y where that is the same */
    size_t h; /* bf16 [n, t, out]: h for the layer's own gradients; y where that is the same */
    size_t gates, cells; /* float [n, t, out, 4], [n, t, out] */
    /* Float [out] each, and double [2][out]. */
    size_t mean, rstd, scale, shift, by_d, by_r, by_one, total;
};

struct cov_train_memory {
    struct cov_train_layer_memory *layers;
    size_t block, moment1, moment2, average, gradient, sum; /* float [n_floats] */
    size_t statistic;                                       /* uint8_t [n_floats] */
    size_t floats, halves;                                  /* packed operands */
    size_t float_places, half_places, collected;            /* the plan's lists */
    size_t ones, zeros;                                     /* float [most_columns] */
    size_t table, loss_weights;                             /* float [16, 4], [depth] */
    size_t partial, column_partial;                         /* float, double: of a layer in turn */
    size_t slices, scores, sums;                            /* double: of the loss */
    size_t squares, square_total;                           /* double */
    size_t codes, targets, present; /* of the batch, as they are copied in */
    size_t onehot;                  /* float or bf16 [n, L, 8] */
    size_t d;                       /* float: gradient of a layer's output, in turn */
    size_t z;                       /* float or bf16: gradient of its sums, in turn */
    size_t bytes;                   /* of all */
};

/* The memory for batches of n chunks; mem->layers [n_layers] is there. COV_ENOMEM where sizes overflow. */
int cov_train_lay_out(const struct cov_train_plan *plan, size_t n, struct cov_train_memory *mem,
                      struct cov_err *e) COV_MUST_USE;

/* Splits of a layer's gradients for n sequences. */
int cov_train_splits(const struct cov_train_layer *layer, size_t n);

#endif
