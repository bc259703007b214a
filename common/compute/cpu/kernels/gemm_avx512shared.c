/* gemm_avx512shared.c - Winograd's inner product for Zen 5, which starts two multiply-adds and two
 * additions of 512 bits per cycle, but only two reads. With a memory operand in each instruction,
 * `a` takes six reads for two vectors of columns, and the kernel reaches five ninths of the peak.
 * With broadcasts to a register, which cost only a read on Zen 5, `a` takes three reads.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#define INNER_SHARES 1
#define INNER_TABLE cov_gemm_avx512_shared
#define INNER_NAME "AVX-512 with free adders and few reads"
#define INNER_NEEDS (COV_CPU_AVX512F | COV_CPU_ADDERS | COV_CPU_FREE_LANES)
#include "common/compute/cpu/kernels/gemm_inner_body.h"

#define OUTER_TABLE cov_outer_avx512_shared
#include "common/compute/cpu/kernels/outer_inner_body.h"
#endif
