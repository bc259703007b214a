/* vec_amx_bf16.c - element-wise kernels of AVX-512 for LSTMs whose products are in bf16 on AMX: gates
 * take a third of the time.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#define VEC_TABLE cov_vec_amx_bf16
#define VEC_NAME "AVX-512, rough gates"
#define VEC_NEEDS                                                                                  \
    (COV_CPU_AVX512F | COV_CPU_AVX512DQ | COV_CPU_AVX512BW | COV_CPU_AVX512VL | COV_CPU_AMX_TILE)
#define GATES GATES_ROUGH
#include "common/compute/cpu/kernels/gates_avx512.h"
#include "common/compute/cpu/kernels/lanes_avx512.h"
#include "common/compute/cpu/kernels/vec_body.h"
#endif
