/* cuda_cards.h - the cards of a device: networks on one or several of them, training, and the check of a
 * card.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_CARDS_H
#define COV_COMPUTE_CUDA_CUDA_CARDS_H

#include "common/compute/cuda/cuda_plan.h"

enum { COV_CUDA_MAX_CARDS = 64, COV_CUDA_SLOTS = 4 /* per card */ };

enum {
    COV_CUDA_PRIORITY = 1,    /* of LSTMs in predictions */
    COV_CUDA_GRAPHS = 2,      /* in training */
    COV_CUDA_HALF_BLOCKS = 4, /* of LSTMs in training (kernels.h) */
};

/* The cards of a device, and how they compute. */
struct cov_cuda_cards {
    size_t n;
    struct cov_cuda_arithmetic arithmetic;
    size_t shared_bytes;       /* per block: the smallest value of all cards */
    struct cov_cublas *cublas; /* NULL: all products by our kernels. Borrowed */
    unsigned without;          /* what not to use, for comparison */
    struct cov_cuda_card card[COV_CUDA_MAX_CARDS];
};

/* Makes a network on all cards (cuda_program.cu). Each card holds the weights and has a few slots: a
 * stream with memory for a batch on the card, and pinned memory for its bases and values on the host.
 * A call takes a free slot of the card with the most free slots, so that the callers' threads form one
 * queue for all cards. While one slot computes, others copy, and other threads work on the host.
 *
 * If a card's free memory does not suffice for the batches, the batches become smaller; if an
 * allocation still fails, the batch is halved once, with a warning. */
int cov_cuda_program_new(const struct cov_cuda_cards *cards, const struct cov_program_spec *spec,
                         struct cov_program **out, struct cov_err *e) COV_MUST_USE;

/* For benchmarks and tests. The cards of a device, before it has networks. */
struct cov_cuda_cards *cov_cuda_cards_of(struct cov_device *dev);
/* cov_cuda_program_time sets seconds[n_steps] to the time of each step for n <=
 * batch sequences of any content. The card must be otherwise idle. */
const struct cov_cuda_plan *cov_cuda_program_plan(const struct cov_program *p);
size_t cov_cuda_program_batch(const struct cov_program *p);
int cov_cuda_program_time(struct cov_program *p, size_t n, double *seconds,
                          struct cov_err *e) COV_MUST_USE;

/* ---- training (cuda_training.cu, cuda_team.cu) ---- */

struct cov_cuda_share; /* train_run.h */

/* Card `which` of a list, and what it has of each batch; NULL: all of it. `share` is borrowed until
 * the training is freed. */
struct cov_cuda_seat {
    const struct cov_cuda_cards *cards;
    size_t which;
    const struct cov_cuda_share *share;
};

/* Parameters, moments and gradients stay on the card: a step copies bases and targets in, and a few sums
 * out. Implements both tables of struct cov_training (common/compute/device.h) on a card, only the
 * resident one if it shares batches. spec->max_batch is for this card. The text of COV_ENOMEM
 * suggests a batch size, shared by all cards, for which memory suffices. */
int cov_cuda_training_new(const struct cov_cuda_seat *seat, const struct cov_training_spec *spec,
                          struct cov_training **out, struct cov_err *e) COV_MUST_USE;

/* Implements the resident table on several cards: each has the whole network, and consecutive parts of
 * every batch (conv_index.h). Sums over a batch are added in the same order as on one card: any number
 * of cards of the same model gives the same bits, and all cards have the same parameters after each
 * step. At most COV_PARTS cards. The text of COV_ENOMEM suggests a batch size for which memory
 * suffices. */
int cov_cuda_team_new(const struct cov_cuda_cards *cards, const struct cov_training_spec *spec,
                      struct cov_training **out, struct cov_err *e) COV_MUST_USE;

/* Compares card `which` of the list with the CPU on a small network that uses all kinds of kernels, before
 * the card is trusted with any other network. cards->cublas computes products of LSTMs if it is not
 * NULL; without it, each check that passes is made once in a process. Returns COV_EIO, with the card's
 * name, if the card computes different values; in training if there is a pool: different gradients. */
int cov_cuda_self_check(const struct cov_cuda_cards *cards, size_t which, struct cov_pool *pool,
                        struct cov_err *e) COV_MUST_USE;

#endif
