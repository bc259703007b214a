/* blas.h - OpenBLAS's single precision matrix product, one thread a call.
 *
 * The library is loaded at run time, because it picks its kernels when it is loaded and picks badly
 * for CPUs newer than itself (0.3.21 takes Sapphire Rapids for Haswell): the core type has to be in
 * the environment by then.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_BLAS_H
#define COV_COMPUTE_CPU_KERNELS_BLAS_H

#include <stdbool.h>
#include <stddef.h>

/* Loads the library at the first call; false when it is not there. Thread-safe, but the environment
 * changes for the time of the load. A core type in the user's environment is respected; calls use
 * one thread in any case. */
bool cov_blas_load(void);

/* "OpenBLAS 0.3.21 SkylakeX"; "" when it is not loaded. */
const char *cov_blas_describe(void);

/* c[m,n] = a[m,k] b[k,n]. Only after cov_blas_load has returned true. */
void cov_blas_sgemm(size_t m, size_t n, size_t k, const float *a, const float *b, float *c);

#endif
