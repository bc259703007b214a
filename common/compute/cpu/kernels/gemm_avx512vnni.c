/* gemm_avx512vnni.c - matrix products with VPDPWSSD (AVX-512 VNNI), which multiplies as many pairs
 * at once as VDPBF16PS does.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>

/* The compiler writes sums to other registers and copies them back. */
#define DOT(sums, a, b) __asm__ volatile("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b))
#define EVERY_PAIR(p) ((wholes){0} + *(const int32_t *)(const void *)(p))
#include "common/compute/cpu/kernels/gemm_int16_body.h"

const struct cov_gemm cov_gemm_dot_int16 = {
    .name = "AVX-512 VNNI",
    .needs = COV_CPU_AVX512F | COV_CPU_AVX512BW | COV_CPU_AVX512VL | COV_CPU_AVX512_VNNI,
    .lanes = WHOLE_LANES,
    .width = WHOLE_PANEL,
    .run = run_int16,
    .pack = cov_gemm_pack_whole,
    .arithmetic = COV_INT16,
    .k_unit = WHOLE_UNIT,
    .ready_floats = ready_floats,
    .make_ready = make_ready,
    .run_ready = run_ready,
};

#endif
