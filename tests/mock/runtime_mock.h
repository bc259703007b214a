/* runtime_mock.h - mock cards (common/compute/cuda/runtime.h). Their memory is accessible only to
 * queued kernels and copies and has guard pages. Queued work runs only when it is waited for. Tests
 * only.
 *
 * The environment variable COVTOOLS_MOCK configures them, with comma-separated words:
 *   cards=N     number of cards (1)
 *   memory=N    bytes of memory per card (128 MiB)
 *   spare=N     allocations of the process before `memory` applies, such as those of self-checks (0)
 *   shared=N    bytes of shared memory per block (100 KiB)
 *   multiprocessors=N  of the first card (2)
 *   major=N     compute capability N.0 (9)
 *   fail=N      the N-th wait fails, counted from 1
 *   free_percent=N  percentage of its free memory that a card reports (100)
 *   name=N      the names of cards have N further characters (0)
 *   wrong=N     copies from card N are wrong in one place
 *   together=N  nothing runs until N streams have once had queued work at the same time; fails
 *               after ten seconds
 *   graph_fail=N   recordings of graphs fail when they begin (1) or end (2)
 *   graph_lacks=N  replays omit the N-th kernel or copy
 *   trusted=1   self-checks pass without computing, which saves most of the time of a small run
 *   driver=no   no driver
 *   cublas=N       the library exists; N: its version, such as 130100 (0: no library)
 *   cublas_fail=N  the N-th call of the library fails, counted from the last reset
 *   cublas_fault=N a fault of enum cublas_fault
 *   cublas_lacks=N it lacks the N-th function, in the order of requests, since the last reset
 * SPDX-License-Identifier: MIT */
#ifndef RUNTIME_MOCK_H
#define RUNTIME_MOCK_H

#include <stddef.h>

/* Counts: waits on a card, refused allocations and replays of graphs since the start of the program, and allocations on
 * cards and host and graphs that are not freed yet. */
size_t runtime_mock_waits(int card);
size_t runtime_mock_refused(void);
size_t runtime_mock_replays(void);
size_t runtime_mock_left(void);

/* From now on, cards take no time: kernels are not run, and copies write nothing, except that memory
 * of the host which values are copied to for the first time is filled with values[bytes], repeated.
 * What was copied to a card comes back unchanged. Memory of cards may be as large as the address
 * space. Borrows the values. Call it while no work is queued. */
void runtime_mock_idle(const void *values, size_t bytes);

/* cublas_mock.cc: the functions of cuBLASLt that the plugin uses, on the memory of mock cards. */
enum cublas_fault {
    CUBLAS_FAULT_NONE,
    CUBLAS_FAULT_PITCH,     /* reads A with a pitch that is 8 too small */
    CUBLAS_FAULT_BIAS,      /* adds no bias */
    CUBLAS_FAULT_ALGORITHM, /* proposes no algorithm */
};

/* Since the last reset: calls; descriptors and handles that exist; products that ran with an
 * algorithm that the library did not propose for their depth and columns, or of which there were
 * several. */
void cublas_mock_reset(void);
size_t cublas_mock_calls(void);
size_t cublas_mock_left(void);
size_t cublas_mock_products(void);
size_t cublas_mock_strangers(void);

/* Between the two files: the function for cov_rt_cublas_function, the number after "name=" in COVTOOLS_MOCK, the card
 * that the thread chose last, and the card of a stream. */
void *cublas_mock_function(const char *name);
long runtime_mock_setting(const char *name, long otherwise);
int runtime_mock_card(void);
int runtime_mock_stream_card(const void *stream);

#endif
