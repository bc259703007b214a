/* level.h - which instructions of the CPU are used, from none in particular to tiles.
 *
 *   scalar      the scalar reference (ref.h): slow
 *   base        what every CPU of the architecture has: SSE2, or NEON
 *   avx2        AVX2 and FMA
 *   avx512      AVX-512 F, DQ, BW, VL
 *   avx512bf16  and BF16, VNNI
 *   amx         AVX-512, and AMX for bf16
 * A level's kernels are its own, and those of the levels below it where it has none. The operating
 * system has to save the registers, and to permit AMX.
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
    bool emulate;      /* bf16 in single precision (gemm.h) where its instructions are not used */
};

/* The highest level of `list` that there is: names with commas between them; NULL: any. The word
 * "emulate" is no level, and sets `emulate`; alone it allows any level. An unknown word is
 * COV_EUSAGE, a list of nothing that there is COV_EUNSUPPORTED. For AMX the permission is asked
 * for. */
int cov_cpu_level_choose(const char *list, struct cov_cpu_choice *out,
                         struct cov_err *e) COV_MUST_USE;

/* buf[0..n) = the names of the levels that there are, with spaces between them. */
void cov_cpu_levels_describe(char *buf, size_t n);

#endif
