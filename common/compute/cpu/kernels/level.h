/* level.h - levels of instruction sets; the best available one is used.
 *
 *   scalar      the scalar reference (ref.h): slow
 *   base        every CPU of the architecture: SSE2, or NEON
 *   avx2        AVX2, FMA and, for strings of bases, BMI2
 *   avx512      AVX-512 F, DQ, BW, VL
 *   avx512bf16  AVX-512 with BF16 and VNNI
 *   amx         AVX-512 with BF16 and VNNI, and AMX with BF16
 * A level includes the kernels of lower levels. A level is available only if the operating system
 * saves its registers and, for amx, permits AMX.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_LEVEL_H
#define COV_COMPUTE_CPU_KERNELS_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

enum cov_cpu_level {
    COV_LEVEL_SCALAR,
    COV_LEVEL_BASE,
    COV_LEVEL_AVX2,
    COV_LEVEL_AVX512,
    COV_LEVEL_AVX512BF16,
    COV_LEVEL_AMX,
};

struct cov_cpu_choice {
    enum cov_cpu_level level;
    unsigned features; /* COV_CPU_* bits that may be used */
};

/* Chooses the highest available level of `list`: names separated by commas, or NULL for any level.
 * Returns COV_EUSAGE for an unknown name, and COV_EUNSUPPORTED if no level of the list is
 * available. Requests the permission for AMX. */
int cov_cpu_level_choose(const char *list, struct cov_cpu_choice *out,
                         struct cov_err *e) COV_MUST_USE;

#endif
