/* cuda_program.h - a network on cards (cuda_cards.h), for the files that run it: cuda_program.cu computes
 * whole chunks, cuda_edits.cu what differs between chunks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_PROGRAM_H
#define COV_COMPUTE_CUDA_CUDA_PROGRAM_H

#include <pthread.h>

#include "common/compute/cuda/cuda_cards.h"

struct cov_cuda_edits;

/* A stream with memory for a batch. */
struct cov_cuda_slot {
    size_t card; /* index in the program */
    void *stream;
    void *memory;               /* on the card: the areas for `batch` sequences */
    void *codes;                /* pinned: [batch, (length + 1) / 2] */
    void *values;               /* pinned: [batch, length, depth] */
    void *extents;              /* pinned: struct cov_cuda_extent [batch, n_lstms] */
    struct cov_plan_ends *ends; /* [COV_CUDA_GROUPS, n_layers + 1] */
    bool taken;
};

struct cov_cuda_program : cov_program {
    struct cov_cuda_cards cards;
    struct cov_cuda_plan plan;
    void **weights; /* [cards.n], on the cards */
    struct cov_cuda_slot *slots;
    size_t n_slots, batch;
    bool halved, full;
    double full_work;               /* multiplications of a chunk if all rows are computed */
    struct cov_chunk_order *orders; /* [n_workers] */
    unsigned n_workers;
    pthread_mutex_t lock;
    pthread_cond_t given_back; /* of slots */
    struct cov_forward_counts counts;
    struct cov_cuda_edits *edits; /* NULL: no forward_edited */
};

enum { COV_CUDA_ANY_CARD = -1 };

/* Takes a free slot of a card, given by its index in the program; waits if there is none. With
 * COV_CUDA_ANY_CARD, of the card with the most free slots. */
struct cov_cuda_slot *cov_cuda_slot_take(struct cov_cuda_program *p, int card);
void cov_cuda_slot_give_back(struct cov_cuda_program *p, struct cov_cuda_slot *s);
/* Sets area[] to the addresses of a slot's areas. */
void cov_cuda_slot_areas(const struct cov_cuda_program *p, const struct cov_cuda_slot *s,
                         char *area[COV_CUDA_N_AREAS]);
/* Puts the card's name before a message. */
int cov_cuda_name_card(const struct cov_cuda_program *p, size_t card, int rc, struct cov_err *e);

/* ---- chunks after edits: cuda_edits.cu ---- */

/* Prepares forward_edited, and sets it, if the network and its arithmetic support it. */
int cov_cuda_edits_new(struct cov_cuda_program *p, struct cov_err *e) COV_MUST_USE;
void cov_cuda_edits_free(struct cov_cuda_program *p);
int cov_cuda_forward_edited(struct cov_program *base, unsigned worker,
                            const struct cov_edited_chunks *chunks, float *out,
                            struct cov_err *e) COV_MUST_USE;

#endif
