/* outer.c - see outer.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/outer.h"

#include "common/base/err.h"

const struct cov_outer *cov_outer_choose(unsigned features, enum cov_arithmetic arithmetic)
{
    static const struct cov_outer *const tables[] = {
#ifdef __x86_64__
        &cov_outer_dot_bf16,
        &cov_outer_avx512,
        &cov_outer_avx2,
#endif
        &cov_outer_base,
    };
    for (size_t i = 0; i < COV_COUNT(tables); i++)
        if (tables[i]->arithmetic == arithmetic && (tables[i]->needs & ~features) == 0)
            return tables[i];
    return NULL;
}
