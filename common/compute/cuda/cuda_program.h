/* cuda_program.h - a network on one or several cards.
 *
 * Each card holds the weights and has a few slots: a stream with memory for a batch on the card, and
 * pinned memory for its bases and values on the host. A call takes a free slot of the card with the
 * most free slots, so that the callers' threads form one queue for all cards. While one slot computes,
 * others copy, and other threads work on the host.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_PROGRAM_H
#define COV_COMPUTE_CUDA_CUDA_PROGRAM_H

#include "common/compute/cuda/cuda_plan.h"

enum { COV_CUDA_MAX_CARDS = 64, COV_CUDA_SLOTS = 4 /* per card */ };

/* The cards of a device, and how they compute. */
struct cov_cuda_cards {
    size_t n;
    struct cov_cuda_arithmetic arithmetic;
    size_t shared_bytes;       /* per block: the smallest value of all cards */
    struct cov_cublas *cublas; /* NULL: all products by our kernels. Borrowed */
    struct cov_cuda_card card[COV_CUDA_MAX_CARDS];
};

/* If a card's free memory does not suffice for the batches, the batches become smaller; if an
 * allocation still fails, the batch is halved once, with a warning. */
int cov_cuda_program_new(const struct cov_cuda_cards *cards, const struct cov_program_spec *spec,
                         struct cov_program **out, struct cov_err *e) COV_MUST_USE;

/* For benchmarks. cov_cuda_program_time sets seconds[n_steps] to the time of each step for n <=
 * batch sequences of any content. The card must be otherwise idle. */
const struct cov_cuda_plan *cov_cuda_program_plan(const struct cov_program *p);
size_t cov_cuda_program_batch(const struct cov_program *p);
int cov_cuda_program_time(struct cov_program *p, size_t n, double *seconds,
                          struct cov_err *e) COV_MUST_USE;

#endif
