/* cuda_plan.h - a network as a list of kernels, with its weights packed for them. Knows no card:
 * where things stand is said as offsets.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_PLAN_H
#define COV_COMPUTE_CUDA_CUDA_PLAN_H

extern "C" {
#include "common/compute/device.h"
#include "common/compute/plan.h"
}
#include "common/compute/cuda/kernels.h"

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

/* Where activations are: codes and outputs of the network, what goes from layer to layer, the gates
 * of an LSTM, and what the LSTMs do. */
enum {
    COV_CUDA_CODES,
    COV_CUDA_ROWS_A,
    COV_CUDA_ROWS_B,
    COV_CUDA_GATES,
    COV_CUDA_VALUES,
    COV_CUDA_EXTENTS, /* struct cov_cuda_extent [n, n_lstms] */
    COV_CUDA_N_AREAS
};

/* A kernel. Its arguments are whole but for n and pointers: those to weights are
 * offsets into the plan's, in bytes; x and y are areas. */
struct cov_cuda_step {
    enum cov_cuda_step_kind kind;
    enum cov_cuda_products products;
    size_t layer, lstm_number; /* which of the LSTMs */
    int from, to;              /* areas */
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
    struct cov_layer *layers;
    size_t n_layers, n_lstms;
};

/* That ints can count rows and elements of a row of each of layers[n], and of how many chunks at once:
 * *max_batch. COV_EUNSUPPORTED where one is too large. */
int cov_cuda_check_sizes(const struct cov_layer *layers, size_t n, size_t *max_batch,
                         struct cov_err *e);

/* Sequences first .. first + n - 1 of a batch, and what is computed of them: ends[n_layers + 1], as
 * cov_plan_padded says. */
struct cov_cuda_group {
    size_t first, n;
    const struct cov_plan_ends *ends;
};

enum { COV_CUDA_GROUPS = 8 };

/* The sequences that are computed together: the LSTMs of all at once, of the other layers each group
 * as far as it needs. The values of a group are [n, its last head, depth], one group behind the
 * other. */
struct cov_cuda_batch {
    size_t n, n_groups;
    struct cov_cuda_group groups[COV_CUDA_GROUPS];
    bool rest; /* of the LSTMs */
};

/* COV_EUNSUPPORTED for what the kernels cannot do: an LSTM too large for `shared_bytes` of a block's
 * memory, sizes that do not fit into an int. Free with cov_cuda_plan_fini, also after a failure. */
int cov_cuda_plan_init(const struct cov_layer *layers, const struct cov_layer_weights *weights,
                       size_t n_layers, struct cov_cuda_arithmetic arithmetic, size_t shared_bytes,
                       struct cov_cuda_plan *out, struct cov_err *e) COV_MUST_USE;
void cov_cuda_plan_fini(struct cov_cuda_plan *plan);

/* A batch of n sequences of which everything is computed; ends[n_layers + 1] is filled and borrowed. */
void cov_cuda_batch_full(const struct cov_cuda_plan *plan, size_t n, struct cov_plan_ends *ends,
                         struct cov_cuda_batch *out);
/* extents[n, n_lstms] = what the area has to begin with. */
void cov_cuda_batch_extents(const struct cov_cuda_plan *plan, const struct cov_cuda_batch *batch,
                            struct cov_cuda_extent *extents);
/* Multiplications of a sequence of a group, with the products that its LSTMs made; of the LSTMs,
 * extents[n_lstms]. */
double cov_cuda_batch_work(const struct cov_cuda_plan *plan, const struct cov_plan_ends *ends,
                           const struct cov_cuda_extent *extents);

/* Queues a step: `weights` are the plan's on the card, area[i] of each area begin there. */
void cov_cuda_plan_queue(const struct cov_cuda_plan *plan, const struct cov_cuda_step *step,
                         const struct cov_cuda_batch *batch, const char *weights,
                         char *const area[COV_CUDA_N_AREAS], void *stream);

/* "conv", "gates", ...; of the layer it belongs to. */
const char *cov_cuda_step_name(const struct cov_cuda_step *step);

#endif
