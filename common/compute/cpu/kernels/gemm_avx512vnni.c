/* gemm_avx512vnni.c - matrix products with VPDPWSSD (AVX-512 VNNI), which multiplies as many pairs
 * at once as VDPBF16PS.
 * SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>

/* In assembly, because the compiler writes sums to other registers and copies them back. */
#define DOT(sums, a, b) __asm__ volatile("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b))
#define EVERY_PAIR(p)                                                                              \
    ({                                                                                             \
        int32s v_;                                                                                 \
        __asm__ volatile("vpbroadcastd %1, %0" : "=v"(v_) : "m"(*(p)));                            \
        v_;                                                                                        \
    })
#define PAIRS_AT(p)                                                                                \
    ({                                                                                             \
        int32s v_;                                                                                 \
        __asm__ volatile("vmovdqa64 %1, %0" : "=v"(v_) : "m"(*(p)));                               \
        v_;                                                                                        \
    })
#include "common/compute/cpu/kernels/gemm_int16_body.h"

const struct cov_gemm cov_gemm_dot_int16 = {
    .name = "AVX-512 VNNI",
    .needs = COV_CPU_AVX512F | COV_CPU_AVX512BW | COV_CPU_AVX512VL | COV_CPU_AVX512_VNNI,
    .lanes = INT16_LANES,
    .width = INT16_PANEL,
    .run = run_int16,
    .pack = cov_gemm_pack_int16,
    .arithmetic = COV_INT16,
    .k_unit = INT16_UNIT,
    .prepared_floats = prepared_floats,
    .prepare = prepare,
    .run_prepared = run_prepared,
};

#endif
