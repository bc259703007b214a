/* tables.c - chooses tables of kernels: gemm.h, outer.h, vec.h and trainvec.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/cpu.h"
#include "common/base/err.h"
#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/outer.h"
#include "common/compute/cpu/kernels/trainvec.h"
#include "common/compute/cpu/kernels/vec.h"

/* The tables of an instruction set, of which some may be NULL; the fastest set first. The last one
 * needs nothing. */
static const struct {
    const struct cov_gemm *gemm;
    const struct cov_outer *outer;
    const struct cov_vec *vec;
    const struct cov_trainvec *trainvec;
} sets[] = {
#ifdef __x86_64__
    {&cov_gemm_amx_bf16, &cov_outer_amx_bf16, NULL, NULL},
    {&cov_gemm_amx_bf16x3, NULL, NULL, NULL},
    {&cov_gemm_dot_int16, &cov_outer_dot_bf16, NULL, NULL},
    {&cov_gemm_avx512_shared, &cov_outer_avx512_shared, NULL, NULL},
    {&cov_gemm_avx512_inner, &cov_outer_avx512_inner, NULL, NULL},
    {&cov_gemm_avx512, &cov_outer_avx512, &cov_vec_avx512, &cov_trainvec_avx512},
    {&cov_gemm_avx2, &cov_outer_avx2, &cov_vec_avx2, &cov_trainvec_avx2},
#endif
    {&cov_gemm_base, &cov_outer_base, &cov_vec_base, &cov_trainvec_base},
};

/* Returns true if a table that needs these features can be used for a layer; adders pay only with
 * many channels. */
static bool fits(unsigned needs, unsigned features, size_t n_in, size_t n_out)
{
    bool many = n_in >= COV_GEMM_MANY && n_out >= COV_GEMM_MANY;
    return (needs & ~features) == 0 && (many || !(needs & COV_CPU_ADDERS));
}

const struct cov_gemm *cov_gemm_choose(unsigned features, enum cov_arithmetic arithmetic,
                                       size_t n_in, size_t n_out)
{
    for (size_t i = 0; i < COV_COUNT(sets); i++) {
        const struct cov_gemm *gemm = sets[i].gemm;
        if (gemm->arithmetic == arithmetic && fits(gemm->needs, features, n_in, n_out))
            return gemm;
    }
    return NULL;
}

const struct cov_outer *cov_outer_choose(unsigned features, enum cov_arithmetic arithmetic,
                                         size_t n_in, size_t n_out)
{
    for (size_t i = 0; i < COV_COUNT(sets); i++) {
        const struct cov_outer *outer = sets[i].outer;
        if (outer && outer->arithmetic == arithmetic && fits(outer->needs, features, n_in, n_out))
            return outer;
    }
    return NULL;
}

const struct cov_vec *cov_vec_choose(unsigned features)
{
    size_t i = 0;
    while (!sets[i].vec || (sets[i].vec->needs & ~features))
        i++;
    return sets[i].vec;
}

const struct cov_trainvec *cov_trainvec_choose(unsigned features)
{
    size_t i = 0;
    while (!sets[i].trainvec || (sets[i].trainvec->needs & ~features))
        i++;
    return sets[i].trainvec;
}
