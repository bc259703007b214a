/* train_run.h - a training as its files share it, and the way of a batch through the network.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_TRAIN_RUN_H
#define COV_COMPUTE_CUDA_TRAIN_RUN_H

#include "common/compute/cuda/train_memory.h"

struct cov_cuda_training : cov_training {
    struct cov_train_plan plan;
    struct cov_train_memory mem;
    const float *block; /* the spec's: what is loaded */
    size_t max_batch;
    double dropout;
    uint64_t seed;
    struct cov_train_reduce reduce;
    int card;
    char name[280]; /* of the card */
    void *stream;
    char *memory;     /* on the card */
    uint8_t *codes;   /* pinned, as all on the host: [max_batch, (L + 1) / 2] */
    float *targets;   /* [max_batch, L, depth] */
    uint8_t *present; /* [max_batch, depth] */
    double *few;      /* sums on their way: [most of them] */
    size_t n_few;
    double *shared;   /* [n_floats], to reduce; NULL: there is one process */
    bool packed;      /* what products take is of the block as it is */
    bool averages;    /* average is one, not yet the parameters */
    size_t n_batches; /* since the last step */
    int64_t n_steps;

    /* Of the run: */
    size_t n;
    uint64_t step, first;
};

/* The memory at an offset. */
void *cov_train_at(const struct cov_cuda_training *t, size_t offset);

/* Forward and backward of the batch that is on the card; the gradient is on the card then, and the sums of
 * the whole batch, as struct cov_cuda_loss has them, in sums. All of it has been waited for. */
int cov_train_pass(struct cov_cuda_training *t, uint64_t step, size_t n, uint64_t first,
                   double sums[4], struct cov_err *e) COV_MUST_USE;

#endif
