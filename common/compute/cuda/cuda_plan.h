/* cuda_plan.h - a network as a list of kernels, with its weights packed for them. Knows no card:
 * where things stand is said as offsets.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_PLAN_H
#define COV_COMPUTE_CUDA_CUDA_PLAN_H

#include "common/compute/cuda/kernels.h"
#include "common/compute/device.h"

/* What products are made of in convolutions and LSTMs. */
struct cov_cuda_arithmetic {
    enum cov_cuda_products conv, lstm;
};

enum cov_cuda_step_kind {
    COV_CUDA_STEP_FIRST,
    COV_CUDA_STEP_GEMM,
    COV_CUDA_STEP_LSTM_FP32,
    COV_CUDA_STEP_LSTM_BF16,
    COV_CUDA_STEP_OUTPUT,
};

/* Where activations are: codes and outputs of the network, what goes from layer to layer, and the
 * gates of an LSTM. */
enum {
    COV_CUDA_CODES,
    COV_CUDA_ROWS_A,
    COV_CUDA_ROWS_B,
    COV_CUDA_GATES,
    COV_CUDA_VALUES,
    COV_CUDA_N_AREAS
};

/* A kernel. Its arguments are whole but for n and pointers: those to weights are
 * offsets into the plan's, in bytes; x and y are areas. */
struct cov_cuda_step {
    enum cov_cuda_step_kind kind;
    enum cov_cuda_products products;
    size_t layer;
    int from, to; /* areas */
    size_t w, bias, scale, shift;
    struct cov_cuda_first first;
    struct cov_cuda_gemm gemm;
    struct cov_cuda_lstm lstm;
    struct cov_cuda_output output;
};

struct cov_cuda_plan {
    struct cov_cuda_step *steps;
    size_t n_steps, cap_steps;
    char *weights; /* for the card to hold */
    size_t weight_bytes, cap_weights;
    size_t area_bytes[COV_CUDA_N_AREAS]; /* a sequence's, each a multiple of 256 */
    size_t chunk_bytes;                  /* their sum */
    size_t length, depth;                /* of the network */
    size_t max_batch;                    /* that kernels can count */
};

/* COV_EUNSUPPORTED for what the kernels cannot do: an LSTM too large for `shared_bytes` of a block's
 * memory, sizes that do not fit into an int. Free with cov_cuda_plan_fini, also after a failure. */
int cov_cuda_plan_init(const struct cov_layer *layers, const struct cov_layer_weights *weights,
                       size_t n_layers, struct cov_cuda_arithmetic arithmetic, size_t shared_bytes,
                       struct cov_cuda_plan *out, struct cov_err *e) COV_MUST_USE;
void cov_cuda_plan_fini(struct cov_cuda_plan *plan);

/* Queues a step of n sequences: `weights` are the plan's on the card, area[i] of each area begin
 * there. */
void cov_cuda_plan_queue(const struct cov_cuda_step *step, int n, const char *weights,
                         char *const area[COV_CUDA_N_AREAS], void *stream);

/* "conv", "gates", ...; of the layer it belongs to. */
const char *cov_cuda_step_name(const struct cov_cuda_step *step);

#endif
