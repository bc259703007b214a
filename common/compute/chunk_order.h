/* chunk_order.h - orders the chunks of a forward call for computation: longest filled length first,
 * so that neighbours have similar padding. Equal chunks are computed only once.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CHUNK_ORDER_H
#define COV_COMPUTE_CHUNK_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_ordered_chunk {
    size_t index;   /* within the call */
    size_t same_as; /* index of an equal chunk to compute instead, or its own index */
    size_t filled;  /* positions before its padding */
    uint64_t hash;  /* hash of its codes */
};

/* One per caller. */
struct cov_chunk_order {
    size_t L, row; /* positions of a chunk; floats of its values */
    bool full;     /* set by the caller: compute all, in the order of the call */
    struct cov_ordered_chunk *todo;
    size_t n_todo;
    uint64_t n_repeated; /* chunks that were copied, over all calls */

    struct cov_ordered_chunk *chunks;
    size_t n;
    float *all_n;            /* [row] values of a chunk that is all N; NULL: not known yet */
    const float *computed_n; /* where this call writes these values */
};

/* For calls of up to max_batch chunks of L positions with `depth` values per position. */
int cov_chunk_order_init(struct cov_chunk_order *o, size_t L, size_t depth, size_t max_batch,
                         struct cov_err *e) COV_MUST_USE;
void cov_chunk_order_fini(struct cov_chunk_order *o); /* accepts an all-zero struct */

/* Sets todo[0..n_todo) to the chunks of codes[n,L] that must be computed. The caller writes the
 * values of each chunk to out[index * row .. (index + 1) * row). */
void cov_chunk_order_begin(struct cov_chunk_order *o, size_t n, const uint8_t *codes, float *out);
/* Copies the values of the other chunks. Call it once all chunks of `todo` are computed. */
void cov_chunk_order_end(struct cov_chunk_order *o, float *out);

#endif
