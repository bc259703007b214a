/* train_run.h - the state of training, and the forward and backward pass of a batch.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_TRAIN_RUN_H
#define COV_COMPUTE_CUDA_TRAIN_RUN_H

#include "common/compute/cuda/train_plan.h"

struct cov_cuda_training : cov_training {
    struct cov_train_plan plan;
    struct cov_train_memory mem;
    const float *block; /* the spec's block; borrowed */
    size_t max_batch;
    double dropout;
    uint64_t seed;
    size_t first_trained; /* layers before it need no gradients */
    struct cov_train_reduce reduce;
    int card;
    size_t n_cards; /* that share a batch */
    char name[280]; /* name of the card */
    void *stream;
    char *memory;     /* on the card, laid out according to mem */
    uint8_t *codes;   /* pinned, like all buffers on the host: [max_batch, (L + 1) / 2] */
    float *targets;   /* [max_batch, L, depth] */
    uint8_t *present; /* [max_batch, depth] */
    double *few;      /* [n_few], to copy sums */
    size_t n_few;
    double *shared;   /* [n_floats], to sum gradients over processes; NULL: one process */
    bool packed;      /* the packed operands are those of the current block */
    bool averages;    /* `average` is in use */
    size_t n_batches; /* since the last step */
    int64_t n_steps;

    /* Of the current pass: */
    size_t n;
    uint64_t step, first;
};

/* The address of an offset in the card's memory. */
void *cov_train_at(const struct cov_cuda_training *t, size_t offset);

/* Runs the forward and backward pass of the batch on the card. Leaves the gradient on the card, and
 * returns the sums of the whole batch (as in struct cov_cuda_loss). Waits for completion. */
int cov_train_pass(struct cov_cuda_training *t, uint64_t step, size_t n, uint64_t first,
                   double sums[4], struct cov_err *e) COV_MUST_USE;

#endif
