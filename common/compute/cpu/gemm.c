/* gemm.c - see gemm.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/gemm.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

const struct cov_gemm *cov_gemm_choose(unsigned features)
{
#ifdef __x86_64__
    static const struct cov_gemm *const tables[] = {&cov_gemm_avx512, &cov_gemm_avx2};
    for (size_t i = 0; i < COV_COUNT(tables); i++)
        if ((tables[i]->needs & ~features) == 0)
            return tables[i];
#else
    (void)features;
#endif
    return &cov_gemm_base;
}

int cov_matrix_init(const struct cov_gemm *gemm, size_t k, size_t n, const float *b,
                    struct cov_matrix *out, struct cov_err *e)
{
    size_t panel = n <= gemm->lanes ? gemm->lanes : gemm->width;
    size_t n_panels = (n + panel - 1) / panel;
    *out = (struct cov_matrix){.k = k, .n = n, .panel = panel};
    out->data = cov_calloc64(n_panels * panel, k * sizeof *b, e);
    if (!out->data)
        return COV_ENOMEM;
    for (size_t p = 0; p < n_panels; p++) {
        size_t left = n - p * panel, cols = left < panel ? left : panel;
        for (size_t i = 0; i < k; i++)
            memcpy(out->data + (p * k + i) * panel, b + i * n + p * panel, cols * sizeof *b);
    }
    return COV_OK;
}

void cov_matrix_fini(struct cov_matrix *m)
{
    free(m->data);
    m->data = NULL;
}
