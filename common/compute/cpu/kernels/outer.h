/* outer.h - sums of outer products of rows, as in gradients of weights; compiled once per
 * instruction set.
 *
 * Every element of the result is computed by the same sequence of operations over k, whatever the
 * shape and the position: each block of COV_OUTER_DEPTH is summed by itself and then
 * added to the result; tiles add each product to the running sum instead. So results do not
 * depend on how m and n are split into calls.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_OUTER_H
#define COV_COMPUTE_CPU_KERNELS_OUTER_H

#include <stddef.h>

#include "common/compute/cpu/kernels/gemm.h"

enum { COV_OUTER_DEPTH = 128 };

/* c[i * ldc + j] += sum over r < k of a[r * lda + i] b[r * ldb + j], for i < m and j < n. */
struct cov_outer_sum {
    size_t m, n, k;
    const float *a;
    size_t lda;
    const float *b;
    size_t ldb;
    float *c;
    size_t ldc;
};

/* Rows of memory that will be read soon: `width` floats each, `stride` apart. */
struct cov_outer_rows {
    const float *row;
    size_t n_rows, width, stride;
};

struct cov_outer {
    const char *name;
    unsigned needs; /* COV_CPU_* bits */

    /* Adds the sum. Prefetches the rows of `a` and `b` that are multiplied next, and, at the end,
     * the rows of next[2] unless `next` is NULL. */
    void (*add)(const struct cov_outer_sum *s, const struct cov_outer_rows *next);

    enum cov_arithmetic arithmetic; /* COV_FP32 or COV_BF16 */
};

extern const struct cov_outer cov_outer_base, cov_outer_avx2, cov_outer_avx512;
/* Winograd's inner product, faster on processors with free adders (gemm_inner_body.h). */
extern const struct cov_outer cov_outer_avx512_inner, cov_outer_avx512_shared;
/* With VDPBF16PS, and with TDPBF16PS on tiles. */
extern const struct cov_outer cov_outer_dot_bf16, cov_outer_amx_bf16;

/* Returns the fastest table for this arithmetic, these features (COV_CPU_* bits), and a layer with
 * n_in and n_out channels; NULL if there is none, which only happens for COV_BF16. */
const struct cov_outer *cov_outer_choose(unsigned features, enum cov_arithmetic arithmetic,
                                         size_t n_in, size_t n_out);

/* ---- for the files of kernels: prefetching ----
 *
 * Rows of a block are short and far apart, so the hardware does not prefetch them. While one block
 * is multiplied, the next one is brought into the second-level cache, a few lines at a time: many
 * at once delay the reads of the current block. */

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

/* Adds the sum in blocks of COV_OUTER_DEPTH rows of k and `columns` columns of b, each with a call
 * of add_block. A block has n_tiles tiles in all columns; each calls cov_outer_prefetch every
 * `call` rows. */
static inline void cov_outer_add_blocks(const struct cov_outer_sum *s,
                                        const struct cov_outer_rows *next, size_t columns,
                                        size_t n_tiles, size_t call,
                                        void (*add_block)(const struct cov_outer_sum *block,
                                                          struct cov_outer_ahead *ahead))
{
    for (size_t r = 0; r < s->k; r += COV_OUTER_DEPTH) {
        size_t rows = s->k - r < COV_OUTER_DEPTH ? s->k - r : COV_OUTER_DEPTH;
        struct cov_outer_ahead ahead =
            cov_outer_ahead_of(s, r, rows, next, n_tiles * (rows < call ? 1 : rows / call));
        for (size_t j = 0; j < s->n; j += columns) {
            struct cov_outer_sum block = *s;
            block.n = s->n - j < columns ? s->n - j : columns;
            block.k = rows;
            block.a += r * s->lda;
            block.b += r * s->ldb + j;
            block.c += j;
            add_block(&block, &ahead);
        }
    }
}

#endif
