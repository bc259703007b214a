/* gemm.c - see gemm.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/gemm.h"

#include <stdlib.h>

#include "common/base/err.h"

/* ---- choosing ---- */

const struct cov_gemm *cov_gemm_choose(unsigned features)
{
#ifdef __x86_64__
    if ((cov_gemm_avx512.needs & ~features) == 0)
        return &cov_gemm_avx512;
    if ((cov_gemm_avx2.needs & ~features) == 0)
        return &cov_gemm_avx2;
#else
    (void)features;
#endif
    return &cov_gemm_base;
}

const struct cov_gemm *cov_gemm_choose_for(unsigned features, size_t n_in, size_t n_out)
{
#ifdef __x86_64__
    bool many = n_in >= COV_GEMM_MANY && n_out >= COV_GEMM_MANY;
    if (many && (cov_gemm_avx512_shared.needs & ~features) == 0)
        return &cov_gemm_avx512_shared;
    if (many && (cov_gemm_avx512_inner.needs & ~features) == 0)
        return &cov_gemm_avx512_inner;
#else
    (void)n_in;
    (void)n_out;
#endif
    return cov_gemm_choose(features);
}

const struct cov_gemm *cov_gemm_choose_bf16(unsigned features, enum cov_arithmetic arithmetic)
{
#ifdef __x86_64__
    static const struct cov_gemm *const tables[] = {&cov_gemm_amx_bf16, &cov_gemm_amx_bf16x3,
                                                    &cov_gemm_dot_bf16, &cov_gemm_dot_int16};
    for (size_t i = 0; i < COV_COUNT(tables); i++)
        if ((tables[i]->needs & ~features) == 0 && tables[i]->arithmetic == arithmetic)
            return tables[i];
#else
    (void)features;
    (void)arithmetic;
#endif
    return NULL;
}

/* ---- the packed right-hand side ---- */

int cov_matrix_init(const struct cov_gemm *gemm, size_t k, size_t n, const float *b,
                    struct cov_matrix *out, struct cov_err *e)
{
    *out =
        (struct cov_matrix){.k = k, .n = n, .panel = n <= gemm->lanes ? gemm->lanes : gemm->width};
    int rc = gemm->pack(gemm, b, out, e);
    if (rc)
        cov_matrix_fini(out);
    return rc;
}

void cov_matrix_fini(struct cov_matrix *m)
{
    free(m->data);
    free(m->pairs);
    free(m->unit);
    free(m->cross);
    free(m->column_sums);
    m->data = m->unit = m->column_sums = NULL;
    m->cross = NULL;
    m->pairs = NULL;
}
