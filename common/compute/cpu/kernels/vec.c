/* vec.c - see vec.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/vec.h"

#include "common/base/err.h"

const struct cov_vec *cov_vec_choose(unsigned features)
{
#ifdef __x86_64__
    static const struct cov_vec *const tables[] = {&cov_vec_avx512, &cov_vec_avx2};
    for (size_t i = 0; i < COV_COUNT(tables); i++)
        if ((tables[i]->needs & ~features) == 0)
            return tables[i];
#else
    (void)features;
#endif
    return &cov_vec_base;
}
