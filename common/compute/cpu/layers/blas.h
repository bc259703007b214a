/* blas.h - OpenBLAS's single-precision matrix product, one thread per call.
 *
 * The default on CPUs without vector kernels of our own (level base). OpenBLAS selects its kernels
 * when it is loaded, and selects poor ones on CPUs newer than itself (0.3.21 treats Sapphire Rapids
 * as Haswell), so it is loaded at run time with the core type in the environment.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_BLAS_H
#define COV_COMPUTE_CPU_LAYERS_BLAS_H

#include <stdbool.h>
#include <stddef.h>

/* Loads the library at the first call; returns false if it is not installed. It is thread-safe, but
 * sets environment variables while it loads. A core type that the user has set is kept; calls
 * always use one thread. */
bool cov_blas_load(void);

/* Returns a name such as "OpenBLAS 0.3.21 SkylakeX", or "" if the library is not loaded. */
const char *cov_blas_describe(void);

/* c[m,n] = a[m,k] b[k,n]. May be called only after cov_blas_load returned true. */
void cov_blas_sgemm(size_t m, size_t n, size_t k, const float *a, const float *b, float *c);

#endif
