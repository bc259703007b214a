/* cpu.h - the processor: the features that kernels may use, and how many CPUs the process may use.
 *
 * Detecting AMX is not enough to use it: the program must also request permission from Linux, with
 * cov_cpu_permit_amx.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_CPU_H
#define COV_BASE_CPU_H

#include <stdbool.h>
#include <stddef.h>

/* A bit is set if the CPU has the instructions and the OS saves their registers. */
enum cov_cpu_feature {
    COV_CPU_AVX = 1U << 0,
    COV_CPU_F16C = 1U << 1,
    COV_CPU_FMA = 1U << 2,
    COV_CPU_AVX2 = 1U << 3,
    COV_CPU_BMI2 = 1U << 4,
    COV_CPU_AVX512F = 1U << 5,
    COV_CPU_AVX512DQ = 1U << 6,
    COV_CPU_AVX512BW = 1U << 7,
    COV_CPU_AVX512VL = 1U << 8,
    COV_CPU_AVX512_VNNI = 1U << 9,
    COV_CPU_AVX512_BF16 = 1U << 10,
    COV_CPU_AVX512_FP16 = 1U << 11,
    COV_CPU_AMX_TILE = 1U << 12,
    COV_CPU_AMX_INT8 = 1U << 13,
    COV_CPU_AMX_BF16 = 1U << 14,
    COV_CPU_NEON = 1U << 15,
    COV_CPU_SVE = 1U << 16,
    COV_CPU_ARM_BF16 = 1U << 17,
    /* Not an instruction set: with AVX-512, the CPU can start an addition together with every
     * multiplication. */
    COV_CPU_ADDERS = 1U << 18,
    COV_CPU_FREE_LANES = 1U << 19, /* broadcasting a float from memory does not occupy an adder */
};

/* Returns the features of this machine, restricted to those that cov_cpu_limit allows. */
unsigned cov_cpu_features(void);

/* Restricts cov_cpu_features, and so every kernel table chosen later, to `features` for the
 * whole process. Call it before other threads start and before any table is chosen, because some
 * tables are chosen only once. */
void cov_cpu_limit(unsigned features);

/* Requests the tile registers from Linux (5.16 and later), for all threads of the process. Returns
 * true if they may be used. */
bool cov_cpu_permit_amx(void);

/* Writes the model name and all features of the machine, ignoring the limit, to buf[0..n), such
 * as "<model name>: avx f16c fma avx2". Truncates the text to fit; n > 0. */
void cov_cpu_describe(char *buf, size_t n);

/* Returns the number of CPUs that control groups allow: the smallest quota of this process's
 * group and the groups above it, rounded up; 0 if there is no quota. Reads
 * `root`/proc/self/cgroup and, below `root`/sys/fs/cgroup, cpu.max (version 2) or
 * cpu.cfs_quota_us and cpu.cfs_period_us (version 1). `root` is "" except in tests. */
unsigned cov_cpu_quota(const char *root);

#endif
