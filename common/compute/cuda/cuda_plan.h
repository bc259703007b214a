/* cuda_plan.h - a network as a list of kernels, with its weights packed for them. Independent of any
 * card: all addresses are offsets.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_PLAN_H
#define COV_COMPUTE_CUDA_CUDA_PLAN_H

extern "C" {
#include "common/compute/device.h"
#include "common/compute/plan.h"
}
#include "common/compute/cuda/cublas.h"
#include "common/compute/cuda/kernels.h"

/* The operands of products in convolutions and LSTMs. */
struct cov_cuda_arithmetic {
    enum cov_cuda_products conv, lstm;
    bool float_sums =
        false;          /* sums over x are floats even for LSTMs in bf16, as cuBLAS writes them */
    bool wgmma = false; /* products in bf16 and tf32 are by warpgroups */
};

enum cov_cuda_step_kind {
    COV_CUDA_STEP_FIRST,
    COV_CUDA_STEP_GEMM,
    COV_CUDA_STEP_LSTM_FP32,
    COV_CUDA_STEP_LSTM_BF16,
    COV_CUDA_STEP_LAST, /* a phase of the last convolution, with the last layer */
};

/* Areas of a card's memory: codes and outputs of the network, activations between layers, gates of an LSTM,
 * and the extents of the LSTMs. */
enum {
    COV_CUDA_CODES,
    COV_CUDA_ROWS_A,
    COV_CUDA_ROWS_B,
    COV_CUDA_GATES,
    COV_CUDA_VALUES,
    COV_CUDA_EXTENTS, /* struct cov_cuda_extent [n, n_lstms] */
    COV_CUDA_N_AREAS
};

/* A kernel with its arguments, except n and the pointers. Instead of pointers to weights there are
 * byte offsets into the plan's weights, and instead of x and y there are areas. */
struct cov_cuda_step {
    enum cov_cuda_step_kind kind;
    enum cov_cuda_products products;
    size_t layer, lstm_number;         /* lstm_number: index among the LSTMs */
    int from, to;                      /* areas */
    size_t w, bias, scale, shift, out; /* out: of the last layer */
    struct cov_cuda_first first;
    struct cov_cuda_gemm gemm;
    const struct cov_dense *dense; /* how `gemm` is computed; set by the program */
    struct cov_cuda_lstm lstm;
    bool sums_fp16; /* the input of `lstm` */
    struct cov_cuda_last last;
};

struct cov_cuda_plan {
    struct cov_cuda_step *steps;
    size_t n_steps, cap_steps;
    char *weights; /* to upload */
    size_t weight_bytes, cap_weights;
    size_t area_bytes[COV_CUDA_N_AREAS]; /* per sequence, multiples of 256 */
    size_t chunk_bytes;                  /* their sum */
    size_t length, depth;                /* positions and outputs of the network */
    size_t max_batch;                    /* limit of the kernels' ints */
    struct cov_layer *layers;
    size_t n_layers, n_lstms;
};

/* Checks that the order of layers[n] is one that the kernels support, and that ints can count the rows
 * and the elements of each row. Sets *max_batch to the largest number of chunks for which ints can.
 * Otherwise returns COV_EUNSUPPORTED. */
int cov_cuda_check_network(const struct cov_layer *layers, size_t n, size_t *max_batch,
                           struct cov_err *e);

/* Returns the operands of layer i. As on the CPU, the last convolution uses single precision,
 * because the last layer amplifies its rounding errors. */
enum cov_cuda_products cov_cuda_products_of(const struct cov_layer *layers, size_t n, size_t i,
                                            struct cov_cuda_arithmetic arithmetic);

/* Returns phase i of a convolution or, if `transposed`, of a transposed one, that writes t_out rows. */
struct cov_conv_phase cov_cuda_phase_of(const struct cov_layer *l, bool transposed, size_t i,
                                        size_t t_out);

/* Calls fn(tap, i, o, offset) for each weight of a phase of a layer, from input channel i to output
 * channel o; offset: among the layer's weights. */
template <typename Function>
static void cov_cuda_each_weight(const struct cov_layer *l, const struct cov_conv_phase *phase,
                                 Function fn)
{
    const bool transposed = l->kind == COV_LAYER_CONV_TRANSPOSED;
    for (int tap = 0; tap < phase->n_taps; tap++)
        for (size_t i = 0; i < l->c_in; i++)
            for (size_t o = 0; o < l->c_out; o++)
                fn(tap, (int)i, (int)o,
                   (transposed ? i * l->c_out + o : o * l->c_in + i) * l->kernel +
                       (size_t)(phase->k_first + tap * phase->k_step));
}

/* Sequences first .. first + n - 1 of a batch, and the rows to compute: ends[n_layers + 1] from
 * cov_plan_padded. */
struct cov_cuda_group {
    size_t first, n;
    const struct cov_plan_ends *ends;
};

enum { COV_CUDA_GROUPS = 8 };

/* The sequences of a batch. LSTMs process all of them at once; other layers process each group as
 * far as needed. The values of a group are [n, last head of the group, depth]; the groups follow
 * each other. */
struct cov_cuda_batch {
    size_t n, n_groups;
    struct cov_cuda_group groups[COV_CUDA_GROUPS];
    bool rest;    /* LSTMs skip steps */
    int priority; /* of the launches of LSTMs */
    int card;     /* that computes it */
};

/* Returns COV_EUNSUPPORTED if the kernels cannot run the network, because the LSTM is too large for
 * `shared_bytes` of shared memory per block, or a size exceeds an int. Free with
 * cov_cuda_plan_fini, even after a failure. */
int cov_cuda_plan_init(const struct cov_layer *layers, const struct cov_layer_weights *weights,
                       size_t n_layers, struct cov_cuda_arithmetic arithmetic, size_t shared_bytes,
                       struct cov_cuda_plan *out, struct cov_err *e) COV_MUST_USE;
void cov_cuda_plan_fini(struct cov_cuda_plan *plan);

/* Makes the plan of the same network for shorter chunks, or longer ones: with `rows` rows where the LSTMs
 * have t, and all other layers in proportion. It has no weights; those of `plan` are at the same
 * offsets. All rows of `plan`'s layers must be multiples of t. */
int cov_cuda_plan_resize(const struct cov_cuda_plan *plan, size_t t, size_t rows,
                         struct cov_cuda_plan *out, struct cov_err *e) COV_MUST_USE;

/* Makes a batch of n sequences of which all rows are computed; fills and borrows ends[n_layers +
 * 1]. */
void cov_cuda_batch_full(const struct cov_cuda_plan *plan, size_t n, struct cov_plan_ends *ends,
                         struct cov_cuda_batch *out);
/* Sets extents[n, n_lstms] to the initial contents of the area COV_CUDA_EXTENTS. */
void cov_cuda_batch_extents(const struct cov_cuda_plan *plan, const struct cov_cuda_batch *batch,
                            struct cov_cuda_extent *extents);
/* Returns the number of multiplications for a sequence of a group, given the extents[n_lstms] that
 * the LSTMs wrote for the sequence. */
double cov_cuda_batch_work(const struct cov_cuda_plan *plan, const struct cov_plan_ends *ends,
                           const struct cov_cuda_extent *extents);

/* Queues a step. weights: the plan's weights on the card; area[i]: the start of area i. */
int cov_cuda_plan_queue(const struct cov_cuda_plan *plan, const struct cov_cuda_step *step,
                        const struct cov_cuda_batch *batch, const char *weights,
                        char *const area[COV_CUDA_N_AREAS], void *stream,
                        struct cov_err *e) COV_MUST_USE;

/* Queues a step that is the product of an LSTM with x, for `rows` rows x; sums are floats. */
int cov_cuda_plan_queue_sums(const struct cov_cuda_step *step, int rows, const char *weights,
                             const void *x, void *sums, void *stream,
                             struct cov_err *e) COV_MUST_USE;

/* "convolution", "gates of an LSTM", ... */
const char *cov_cuda_step_name(const struct cov_cuda_step *step);

#endif
