/* train_run.h - the state of training, and the forward and backward pass of a batch.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_TRAIN_RUN_H
#define COV_COMPUTE_CUDA_TRAIN_RUN_H

#include "common/compute/cuda/train_plan.h"

/* What a card has of each batch, if it shares batches with other cards of the process. */
struct cov_cuda_share {
    struct cov_parts parts; /* parts.n: chunks in the batch of the call in progress */
    /* Replace v[0..n) by the sum of the batch, with the same bits on each card. v has n values for
     * each node of the card. */
    int (*add_doubles)(void *arg, double *v, size_t n, struct cov_err *e);
    int (*add_floats)(void *arg, float *v, size_t n, struct cov_err *e);
    void *arg;
};

struct cov_cuda_training : cov_training {
    struct cov_train_plan plan;
    struct cov_train_memory mem;
    const float *block; /* the spec's block; borrowed */
    size_t max_batch;
    double dropout;
    uint64_t seed;
    size_t first_trained;               /* layers before it need no gradients */
    const struct cov_cuda_share *share; /* borrowed; NULL: no other card */
    struct cov_train_reduce reduce;
    int card, multiprocessors;
    char name[280]; /* name of the card */
    void *stream;
    char *memory;     /* on the card, laid out according to mem */
    uint8_t *codes;   /* pinned, like all buffers on the host: [max_batch, (L + 1) / 2] */
    float *targets;   /* [max_batch, L, depth] */
    uint8_t *present; /* [max_batch, depth] */
    struct cov_cuda_moment *now;
    double *few;           /* to copy sums */
    float *host_gradients; /* [n_nodes, n_floats], to add; NULL: one card and process */
    double *shared;        /* [n_floats], to sum gradients over processes; NULL: one process */
    void *
        *graphs; /* [max_batch + 1]: of a pass of as many chunks; NULL: none, or not recorded yet */
    bool *seen;  /* [max_batch + 1]: there was such a pass */
    bool has_graphs;
    bool packed;      /* the packed operands are those of the current block */
    bool averages;    /* `average` is in use */
    size_t n_batches; /* since the last step */
    int64_t n_steps;

    struct cov_parts parts;
    struct cov_node nodes[COV_MOST_NODES]; /* [plan.n_nodes] */

    size_t n; /* chunks of the current pass */
};

/* The address of an offset in the card's memory. */
void *cov_train_at(const struct cov_cuda_training *t, size_t offset);

/* Copies the batch of n chunks from the buffers on the host, and runs its forward and backward pass on
 * the card. Leaves the gradient of the process on the card, and returns the sums of the whole batch (as
 * in struct cov_cuda_loss). Waits for completion. From the second pass of n chunks on, all of it is a
 * graph (runtime.h), if there are graphs. */
int cov_train_pass(struct cov_cuda_training *t, size_t n, double sums[4],
                   struct cov_err *e) COV_MUST_USE;

#endif
