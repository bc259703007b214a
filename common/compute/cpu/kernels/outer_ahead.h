/* outer_ahead.h - prefetching for sums of outer products: rows of a block are short and far apart,
 * so the hardware does not prefetch them. While one block is multiplied, the next one is brought
 * into the second-level cache, a few lines at a time: many at once delay the reads of the current
 * block.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_OUTER_AHEAD_H
#define COV_COMPUTE_CPU_KERNELS_OUTER_AHEAD_H

#include "common/compute/cpu/kernels/outer.h"

enum { COV_OUTER_LINE = 16 }; /* floats of a cache line */

struct cov_outer_ahead {
    struct cov_outer_rows rows[2]; /* rows that are still to be prefetched */
    size_t at[2];                  /* floats already prefetched of the first row of each */
    size_t at_once;                /* lines */
};

static inline size_t cov_outer_lines(const struct cov_outer_rows *r)
{
    return r->n_rows * ((r->width + COV_OUTER_LINE - 1) / COV_OUTER_LINE);
}

/* Returns what to prefetch while rows [r, r + rows) of k are multiplied, with n_calls calls of
 * cov_outer_prefetch: the next block, or `next` if there is none. */
static inline struct cov_outer_ahead cov_outer_ahead_of(const struct cov_outer_sum *s, size_t r,
                                                        size_t rows,
                                                        const struct cov_outer_rows *next,
                                                        size_t n_calls)
{
    struct cov_outer_ahead h = {0};
    size_t beg = r + rows, left = s->k - beg;
    if (left > 0) {
        left = left < COV_OUTER_DEPTH ? left : COV_OUTER_DEPTH;
        h.rows[0] = (struct cov_outer_rows){s->a + beg * s->lda, left, s->m, s->lda};
        h.rows[1] = (struct cov_outer_rows){s->b + beg * s->ldb, left, s->n, s->ldb};
    } else if (next) {
        h.rows[0] = next[0];
        h.rows[1] = next[1];
    }
    size_t lines = cov_outer_lines(&h.rows[0]) + cov_outer_lines(&h.rows[1]);
    h.at_once = n_calls > 0 ? (lines + n_calls - 1) / n_calls : 0;
    return h;
}

static inline void cov_outer_prefetch(struct cov_outer_ahead *h)
{
    size_t left = h->at_once;
    for (size_t i = 0; i < 2; i++)
        for (struct cov_outer_rows *r = &h->rows[i]; left > 0 && r->n_rows > 0; left--) {
            __builtin_prefetch(r->row + h->at[i], 0, 2);
            h->at[i] += COV_OUTER_LINE;
            if (h->at[i] >= r->width) {
                h->at[i] = 0;
                r->row += r->stride;
                r->n_rows--;
            }
        }
}

#endif
