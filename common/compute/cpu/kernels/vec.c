/* vec.c - see vec.h and trainvec.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/vec.h"

#include "common/compute/cpu/kernels/trainvec.h"

#include "common/base/err.h"

enum { BASE, AVX2, AVX512 };

/* Both tables of an instruction set need the same features. */
static unsigned level_of(unsigned features)
{
#ifdef __x86_64__
    if ((cov_vec_avx512.needs & ~features) == 0)
        return AVX512;
    if ((cov_vec_avx2.needs & ~features) == 0)
        return AVX2;
#else
    (void)features;
#endif
    return BASE;
}

const struct cov_vec *cov_vec_choose(unsigned features)
{
    static const struct cov_vec *const tables[] = {
        &cov_vec_base,
#ifdef __x86_64__
        &cov_vec_avx2,
        &cov_vec_avx512,
#endif
    };
    return tables[level_of(features)];
}

const struct cov_trainvec *cov_trainvec_choose(unsigned features)
{
    static const struct cov_trainvec *const tables[] = {
        &cov_trainvec_base,
#ifdef __x86_64__
        &cov_trainvec_avx2,
        &cov_trainvec_avx512,
#endif
    };
    return tables[level_of(features)];
}
