/* outer.c - see outer.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/outer.h"

#include "common/base/cpu.h"
#include "common/base/err.h"

const struct cov_outer *cov_outer_choose_for(unsigned features, enum cov_arithmetic arithmetic,
                                             size_t n_in, size_t n_out)
{
    bool many = n_in >= COV_GEMM_MANY && n_out >= COV_GEMM_MANY;
    static const struct cov_outer *const tables[] = {
#ifdef __x86_64__
        &cov_outer_amx_bf16,     &cov_outer_dot_bf16, &cov_outer_avx512_shared,
        &cov_outer_avx512_inner, &cov_outer_avx512,   &cov_outer_avx2,
#endif
        &cov_outer_base,
    };
    for (size_t i = 0; i < COV_COUNT(tables); i++)
        if (tables[i]->arithmetic == arithmetic && (tables[i]->needs & ~features) == 0 &&
            (many || !(tables[i]->needs & COV_CPU_ADDERS)))
            return tables[i];
    return NULL;
}
