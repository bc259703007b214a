/* gemm.h - single precision matrix products with a packed right-hand side, compiled once per
 * instruction set.
 *
 * Every element of the result is one chain of multiply-adds over k, in order, whatever the shape and
 * the place of its row: so a row's values do not depend on the rows beside it. (OpenBLAS's do: its
 * kernels for the edges of a matrix sum in another order.)
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_GEMM_H
#define COV_COMPUTE_CPU_GEMM_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

/* B[k,n], packed by one of the tables below, which alone can use it. */
struct cov_matrix {
    size_t k, n;
    size_t panel; /* columns of a panel */
    float *data;  /* [ceil(n / panel), k, panel], zeros behind column n. Owned */
};

struct cov_gemm {
    const char *name;
    unsigned needs;      /* COV_CPU_* bits */
    size_t lanes, width; /* columns of a narrow panel, and of a wide one */

    /* c[m,n] (row stride ldc) = a[m,k] B, plus c itself if `add`. Row r of a starts at a + r * lda;
     * rows may overlap (lda < k). c must not overlap a. */
    void (*run)(size_t m, const float *a, size_t lda, const struct cov_matrix *b, float *c,
                size_t ldc, bool add);
};

extern const struct cov_gemm cov_gemm_base, cov_gemm_avx2, cov_gemm_avx512;

/* The widest whose needs are among `features`. */
const struct cov_gemm *cov_gemm_choose(unsigned features);

/* Packs b[k,n], row-major. Free with cov_matrix_fini. */
int cov_matrix_init(const struct cov_gemm *gemm, size_t k, size_t n, const float *b,
                    struct cov_matrix *out, struct cov_err *e) COV_MUST_USE;
void cov_matrix_fini(struct cov_matrix *m);

#endif
