/* strassen.h - products of pairs of rows with a matrix of weights, with 7/8 of the multiplications.
 * Split the two rows of a pair into halves, [a0 a1] and [a2 a3], and B into quarters,
 * [[b0 b1], [b2 b3]]. Then, with
 *     m0 = (a0 + a3) (b0 + b3)   m1 = (a2 + a3) b0   m2 = a0 (b1 - b3)   m3 = a3 (b2 - b0)
 *     m4 = (a0 + a1) b3   m5 = (a2 - a0) (b0 + b1)   m6 = (a1 - a3) (b2 + b3)
 * the first row's product is [m0 + m3 - m4 + m6, m2 + m4], and the second row's product is
 * [m1 + m3, m0 - m1 + m2 + m5]. Source: V. Strassen, Gaussian Elimination is not Optimal (1969).
 * The mean rounding error is 1.4 times that of a plain product.
 *
 * A row's values depend on the other row of its pair, so pairs must be formed from rows of one
 * sequence, always in the same way. They do not depend on other pairs.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_STRASSEN_H
#define COV_COMPUTE_CPU_LAYERS_STRASSEN_H

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/vec.h"

struct cov_strassen; /* B, packed */

/* Two rows of `a`, and where their products are written. c[1] is NULL if it is not wanted. */
struct cov_strassen_pair {
    const float *a[2]; /* [k] */
    float *c[2];       /* [n] */
};

/* Returns true if products with B[k,n] can be computed this way and are faster. */
bool cov_strassen_pays(const struct cov_gemm *gemm, size_t k, size_t n);

/* b[k,n], row-major, is borrowed for the call. */
int cov_strassen_new(const struct cov_gemm *gemm, const struct cov_vec *vec, size_t k, size_t n,
                     const float *b, struct cov_strassen **out, struct cov_err *e) COV_MUST_USE;
void cov_strassen_free(struct cov_strassen *f); /* NULL is accepted */
/* Returns the floats of scratch that it needs. */
size_t cov_strassen_scratch(const struct cov_strassen *f);

/* c = a B for both rows of each pair. */
void cov_strassen_run(const struct cov_strassen *f, size_t n_pairs,
                      const struct cov_strassen_pair *pairs, float *scratch);

#endif
