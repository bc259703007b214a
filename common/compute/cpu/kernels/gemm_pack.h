/* gemm_pack.h - how the tables of gemm.h pack the right-hand side: a function for each form that kernels
 * read, all of them cov_gemm's `pack`.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_GEMM_PACK_H
#define COV_COMPUTE_CPU_KERNELS_GEMM_PACK_H

#include "common/compute/cpu/kernels/gemm.h"

/* data: as they are; of COV_BF16 rounded; of COV_BF16X3 the first terms, and in `low` the second. */
cov_gemm_pack_fn cov_gemm_pack_floats;
/* data: columns divided by powers of two that make their elements 1 in the quadratic mean, and unit: these;
 * column_sums, of the products of pairs that gemm_avx512inner.c saves. */
cov_gemm_pack_fn cov_gemm_pack_inner;
/* pairs: of bf16, one term or two. */
cov_gemm_pack_fn cov_gemm_pack_pairs;
/* pairs: of whole numbers; unit and cross. */
cov_gemm_pack_fn cov_gemm_pack_whole;

/* Of cov_gemm_pack_inner, and the rows of a. */
enum {
    COV_INNER_ROWS = 6,       /* of B, after which the pairs' turns begin anew */
    COV_INNER_MAX_SCALE = 60, /* of the exponent of a power: no sums overflow */
};

#endif
