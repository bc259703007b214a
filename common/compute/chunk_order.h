/* chunk_order.h - the chunks of a forward call as they are computed: those that are filled alike beside
 * one another, longest first, and equal ones once.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CHUNK_ORDER_H
#define COV_COMPUTE_CHUNK_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_ordered_chunk {
    size_t index;   /* in the call */
    size_t same_as; /* index of the equal one that is computed; its own: none */
    size_t filled;  /* positions before its padding */
    uint64_t hash;  /* of its codes */
};

/* One for each caller. */
struct cov_chunk_order {
    size_t L, row; /* positions of a chunk; floats of its values */
    bool full;     /* to be set: all are computed, in the order of the call */
    struct cov_ordered_chunk *todo;
    size_t n_todo;
    uint64_t n_repeated; /* chunks that were not computed, of all calls */

    struct cov_ordered_chunk *chunks;
    size_t n;
    float *all_n;            /* [row] values of a chunk of nothing but N; NULL: there was none */
    const float *computed_n; /* where they will be */
};

/* For calls of up to max_batch chunks of L positions with `depth` values each. */
int cov_chunk_order_init(struct cov_chunk_order *o, size_t L, size_t depth, size_t max_batch,
                         struct cov_err *e) COV_MUST_USE;
void cov_chunk_order_fini(struct cov_chunk_order *o); /* also of one that is all zero */

/* todo[0..n_todo) = the chunks of codes[n,L] that have to be computed, to
 * out[index * row .. (index + 1) * row). */
void cov_chunk_order_begin(struct cov_chunk_order *o, size_t n, const uint8_t *codes, float *out);
/* The values of the others, when those are there. */
void cov_chunk_order_end(struct cov_chunk_order *o, float *out);

#endif
