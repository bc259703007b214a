/* vec_avx512.c - element-wise kernels of prediction and training for AVX-512.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#define VEC_NAME "AVX-512"
#define VEC_NEEDS (COV_CPU_AVX512F | COV_CPU_AVX512DQ | COV_CPU_AVX512BW | COV_CPU_AVX512VL)
#include "common/compute/cpu/kernels/gates_avx512.h"
#include "common/compute/cpu/kernels/vec_body.h"

VEC_TABLE_OF(cov_vec_avx512, VEC_NAME, VEC_NEEDS, GATES_EXACT)
/* For LSTMs on AMX: in bf16x3, exact gates would take half of the time, in bf16 a third. */
VEC_TABLE_OF(cov_vec_amx, "AVX-512, close gates", VEC_NEEDS | COV_CPU_AMX_TILE, GATES_CLOSE)
VEC_TABLE_OF(cov_vec_amx_bf16, "AVX-512, rough gates", VEC_NEEDS | COV_CPU_AMX_TILE, GATES_ROUGH)
#endif
