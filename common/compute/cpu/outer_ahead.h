/* outer_ahead.h - reading ahead in sums of outer products: rows of a block are short pieces of
 * memory far from one another, which the processor does not foresee. While one block is multiplied,
 * the next one is called into the second-level cache, some lines a tile.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_OUTER_AHEAD_H
#define COV_COMPUTE_CPU_OUTER_AHEAD_H

#include <stddef.h>

enum { COV_OUTER_LINE = 16 }; /* floats of a cache line */

/* Rows of one operand that are still to be called. */
struct cov_outer_rows {
    const float *row;
    size_t n_rows, width, stride; /* floats */
    size_t at;                    /* in the row */
};

struct cov_outer_ahead {
    struct cov_outer_rows rows[2];
    size_t per_tile; /* lines */
};

/* The rows of a[k, m] and b[k, n], over n_tiles tiles. */
static inline struct cov_outer_ahead cov_outer_ahead_of(size_t k, const float *a, size_t m,
                                                        size_t lda, const float *b, size_t n,
                                                        size_t ldb, size_t n_tiles)
{
    struct cov_outer_ahead h = {{{a, k, m, lda, 0}, {b, k, n, ldb, 0}}, 0};
    size_t lines =
        k * ((m + COV_OUTER_LINE - 1) / COV_OUTER_LINE + (n + COV_OUTER_LINE - 1) / COV_OUTER_LINE);
    h.per_tile = n_tiles > 0 ? (lines + n_tiles - 1) / n_tiles : 0;
    return h;
}

/* Before each tile. */
static inline void cov_outer_call(struct cov_outer_ahead *h)
{
    size_t left = h->per_tile;
    for (size_t i = 0; i < 2; i++)
        for (struct cov_outer_rows *r = &h->rows[i]; left > 0 && r->n_rows > 0; left--) {
            __builtin_prefetch(r->row + r->at, 0, 2);
            r->at += COV_OUTER_LINE;
            if (r->at >= r->width) {
                r->at = 0;
                r->row += r->stride;
                r->n_rows--;
            }
        }
}

#endif
