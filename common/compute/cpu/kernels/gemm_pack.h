/* gemm_pack.h - packs the right-hand side of a product: one function per form that kernels read,
 * for cov_gemm's `pack`.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_GEMM_PACK_H
#define COV_COMPUTE_CPU_KERNELS_GEMM_PACK_H

#include "common/compute/cpu/kernels/gemm.h"

/* data: unchanged. */
cov_gemm_pack_fn cov_gemm_pack_floats;
/* data: columns divided by the powers of two that bring their root mean square closest to 1; unit:
 * these powers; column_sums: sums of products of pairs, which gemm_inner_body.h needs. */
cov_gemm_pack_fn cov_gemm_pack_inner;
/* pairs: bf16, one term or two. */
cov_gemm_pack_fn cov_gemm_pack_pairs;
/* pairs: 16-bit integers; unit and cross. */
cov_gemm_pack_fn cov_gemm_pack_int16;

/* Used by cov_gemm_pack_inner and for the rows of a. */
enum {
    COV_INNER_ROWS = 6,       /* rows of B after which the pattern of pairs repeats */
    COV_INNER_MAX_SCALE = 60, /* largest exponent of a power, so that no sum overflows */
};

#endif
