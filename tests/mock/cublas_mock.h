/* cublas_mock.h - the functions of cuBLASLt that the plugin uses, on the emulated memory of mock cards
 * (runtime_mock.h). Products run when their stream is waited for, and follow the descriptors to the
 * letter, so that a wrong pitch or stride gives wrong values or leaves the memory. Descriptors that
 * the library would refuse are refused. Tests only.
 *
 * Further words of COVTOOLS_MOCK:
 *   cublas=N       the library exists; N: its version, such as 130100 (0: no library)
 *   cublas_fail=N  the N-th call fails, counted from the last reset
 *   cublas_fault=N a fault of enum cublas_fault
 *   cublas_lacks=N it lacks the N-th function, in the order of requests, since the last reset
 * SPDX-License-Identifier: MIT */
#ifndef CUBLAS_MOCK_H
#define CUBLAS_MOCK_H

#include <stddef.h>

enum cublas_fault {
    CUBLAS_FAULT_NONE,
    CUBLAS_FAULT_PITCH,     /* reads A with a pitch that is 8 too small */
    CUBLAS_FAULT_BIAS,      /* adds no bias */
    CUBLAS_FAULT_ALGORITHM, /* proposes no algorithm */
};

/* The function for cov_rt_cublas_function. */
void *cublas_mock_function(const char *name);

/* Since the last reset: calls; descriptors and handles that exist; products that ran with an
 * algorithm that the library did not propose for their depth and columns, or of which there were
 * several. */
void cublas_mock_reset(void);
size_t cublas_mock_calls(void);
size_t cublas_mock_left(void);
size_t cublas_mock_products(void);
size_t cublas_mock_strangers(void);

#endif
