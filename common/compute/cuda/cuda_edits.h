/* cuda_edits.h - what forward_edited (device.h) keeps on cards: layers of originals, which any worker with the same
 * originals uses, and memory of slots. edit_store.cu makes it, and cuda_edits.cu computes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUDA_EDITS_H
#define COV_COMPUTE_CUDA_CUDA_EDITS_H

#include "common/compute/cuda/cuda_program.h"
#include "common/compute/cuda/edit_tiles.h"

enum {
    COV_EDIT_KEPT = 8, /* sets of originals per card: more than its slots, so that one is free */
    COV_EDIT_LSTMS = 16
};

/* What is kept of an LSTM layer, for the originals of a call. */
struct cov_edit_kept_layer {
    void *sums;   /* [COV_EDITED_ORIGINALS, t, direction, unit, 4] over x: float or fp16 */
    char *y;      /* [COV_EDITED_ORIGINALS, t, direction, unit] float or bf16 */
    float *cells; /* [COV_EDITED_ORIGINALS, t, direction, unit] */
};

/* The originals of a call. */
struct cov_edit_kept {
    unsigned users; /* calls */
    bool made;
    uint64_t used;  /* when, for the choice of the next one to replace */
    size_t n;       /* 0: none */
    uint8_t *codes; /* [COV_EDITED_ORIGINALS, length] */
    float *values;  /* [COV_EDITED_ORIGINALS, length, depth], on padding, too */
    void *memory;   /* on the card: the arrays of the layers */
    struct cov_edit_kept_layer layers[COV_EDIT_LSTMS];
};

/* An edited chunk of a group. */
struct cov_edit_chunk {
    size_t number, of;           /* within the call; its original */
    struct cov_rows wanted;      /* positions */
    struct cov_rows needed;      /* rows of the last LSTM's output for these */
    struct cov_rows rows;        /* that differ: of the current LSTM's input, then of its output */
    struct cov_rows computed[2]; /* rows of the last LSTM's output, by direction */
    double work;
};

/* What a slot has in addition to its areas. Up to `most` edits, at most a batch, form a group. */
struct cov_edit_slot {
    size_t most;
    /* Card: [most, t, row] rows of an LSTM's output that differ; before that, the collected rows of the
     * first one's input. */
    void *strips;
    void *table;                   /* card: [most_pieces] addresses of pieces */
    void *edits;                   /* card: struct cov_cuda_edit [batch] */
    void *table_host, *edits_host; /* pinned */
    struct cov_edit_chunk *list;   /* [batch] */
    struct cov_edit_tile *tiles;   /* [most_head or most_tail] */
    size_t n, n_tiles;
};

enum cov_edits_state { COV_EDITS_UNCHECKED, COV_EDITS_RIGHT, COV_EDITS_UNUSABLE };

struct cov_cuda_edits {
    size_t lstm_beg, lstm_end, t;                                            /* layers; rows */
    const struct cov_cuda_step *sums[COV_EDIT_LSTMS], *lstm[COV_EDIT_LSTMS]; /* steps of the plan */
    struct cov_edit_tiles head, tail;
    size_t most_pieces, most_head, most_tail; /* of a group: pieces of rows, and tiles */
    struct cov_edit_kept *kept;               /* [cards, COV_EDIT_KEPT] */
    struct cov_edit_slot *slots;              /* [n_slots] */
    uint64_t now;
    enum cov_edits_state state;
    pthread_cond_t kept_changed;
};

static inline size_t cov_edit_h_bytes(const struct cov_cuda_step *lstm)
{
    return lstm->lstm.y_bf16 ? 2 : 4;
}

/* Bytes of a direction's part of a row of an LSTM's output. */
static inline size_t cov_edit_piece_bytes(const struct cov_cuda_step *lstm)
{
    return (size_t)lstm->lstm.units * cov_edit_h_bytes(lstm);
}

static inline size_t cov_edit_row_bytes(const struct cov_cuda_step *lstm)
{
    return (size_t)lstm->lstm.directions * cov_edit_piece_bytes(lstm);
}

/* Bytes of a row that the first LSTM reads. */
static inline size_t cov_edit_x_bytes(const struct cov_cuda_edits *x)
{
    return (size_t)x->sums[0]->gemm.c * (x->sums[0]->products == COV_CUDA_BF16 ? 2 : 4);
}

static inline size_t cov_edit_values(const struct cov_cuda_program *p)
{
    return p->plan.length * p->plan.depth;
}

static inline size_t cov_edit_lstms(const struct cov_cuda_edits *x)
{
    return x->lstm_end - x->lstm_beg;
}

/* Allocates what slot number i needs for edits, the first time. */
int cov_edit_slot_fill(const struct cov_cuda_program *p, size_t i, struct cov_err *e) COV_MUST_USE;
/* Allocates the memory of originals, the first time. */
int cov_edit_kept_fill(const struct cov_cuda_program *p, size_t card, struct cov_edit_kept *k,
                       struct cov_err *e) COV_MUST_USE;

/* Returns the kept originals of the call, or free ones to make (*made is false then); waits while another call
 * makes them. The caller is one of their users until it gives them back. */
struct cov_edit_kept *cov_edit_kept_take(struct cov_cuda_program *p, size_t card,
                                         const struct cov_edited_chunks *chunks, bool *made);
void cov_edit_kept_give_back(struct cov_cuda_program *p, struct cov_edit_kept *k);

#endif
