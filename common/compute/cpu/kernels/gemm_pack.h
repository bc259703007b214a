/* gemm_pack.h - packs the right-hand side of a product: one function per form that kernels read,
 * for cov_gemm's `pack`.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_GEMM_PACK_H
#define COV_COMPUTE_CPU_KERNELS_GEMM_PACK_H

#include "common/compute/cpu/kernels/gemm.h"

/* Sets data to the floats of b, unchanged. */
cov_gemm_pack_fn cov_gemm_pack_floats;
/* Sets data to the columns of b, each divided by the power of two that brings its root mean square
 * closest to 1; unit to these powers; and column_sums to the sums of products of pairs that
 * gemm_inner_body.h needs. */
cov_gemm_pack_fn cov_gemm_pack_inner;
/* Sets pairs to bf16, with one term or two. */
cov_gemm_pack_fn cov_gemm_pack_pairs;
/* Sets pairs to 16-bit integers, and sets unit and cross. */
cov_gemm_pack_fn cov_gemm_pack_int16;

/* Used by cov_gemm_pack_inner, and to prepare rows of `a`. */
enum {
    COV_INNER_ROWS = 6,       /* rows of B after which the pattern of pairs repeats */
    COV_INNER_MAX_SCALE = 60, /* largest exponent of a power, so that no sum overflows */
};

#endif
