/* gemm_avx512shared.c - Winograd's inner product for Zen 5, which begins two multiply-adds and two additions
 * of 512 bits in a cycle, but no more than two reads: six of a for two vectors of columns, where three
 * do, left it at five ninths of what it can. To read a float to all lanes of a register is a read and
 * nothing else there.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#define INNER_SHARES 1
#define INNER_TABLE cov_gemm_avx512_shared
#define INNER_NAME "AVX-512 with adders and few reads"
#define INNER_NEEDS (COV_CPU_AVX512F | COV_CPU_ADDERS | COV_CPU_FREE_LANES)
#include "common/compute/cpu/kernels/gemm_inner_body.h"
#endif
