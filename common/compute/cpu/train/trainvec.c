/* trainvec.c - see trainvec.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/train/trainvec.h"

#include "common/base/err.h"

const struct cov_trainvec *cov_trainvec_choose(unsigned features)
{
#ifdef __x86_64__
    static const struct cov_trainvec *const tables[] = {&cov_trainvec_avx512, &cov_trainvec_avx2};
    for (size_t i = 0; i < COV_COUNT(tables); i++)
        if ((tables[i]->needs & ~features) == 0)
            return tables[i];
#else
    (void)features;
#endif
    return &cov_trainvec_base;
}
