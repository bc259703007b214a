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

#endif
