/* runtime.h - what the plugin asks of CUDA's runtime, and no more: memory, streams, copies. cuda_runtime.cu
 * does it with CUDA; tests do it with memory that faults outside of it (tests/lib/runtime_mock.cc).
 *
 * `card` is the index of a GPU. What is queued on a stream happens in its order, and, for the host, any
 * time before cov_rt_wait. Any thread may call; a stream is for one at a time.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_RUNTIME_H
#define COV_COMPUTE_CUDA_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

struct cov_rt_card {
    char name[256];
    int major, minor; /* its compute capability */
    int n_multiprocessors;
    size_t shared_bytes;                 /* that a block may have */
    double clock_hz, memory_bytes_per_s; /* at most; 0: not known */
};

/* *n > 0 cards; COV_EUNSUPPORTED says what is missing: driver or card. */
int cov_rt_count(int *n, struct cov_err *e) COV_MUST_USE;
int cov_rt_describe(int card, struct cov_rt_card *out, struct cov_err *e) COV_MUST_USE;
/* Whether the card runs kernels of this build. */
int cov_rt_check(int card, struct cov_err *e) COV_MUST_USE;
int cov_rt_free_bytes(int card, size_t *out, struct cov_err *e) COV_MUST_USE;

/* Memory of a card, aligned to 256 bytes. COV_ENOMEM where there is not enough. */
int cov_rt_alloc(int card, size_t bytes, void **out, struct cov_err *e) COV_MUST_USE;
void cov_rt_free(int card, void *p); /* NULL is accepted */
/* Memory of the host that a card copies from and to without the CPU. */
int cov_rt_alloc_host(int card, size_t bytes, void **out, struct cov_err *e) COV_MUST_USE;
void cov_rt_free_host(int card, void *p);

/* A stream is what kernels.h takes; what follows, and kernels queued by this thread until its next
 * call for another stream, go to the stream's card. */
int cov_rt_stream_new(int card, void **out, struct cov_err *e) COV_MUST_USE;
void cov_rt_stream_free(int card, void *stream);
/* To be called before kernels are queued on the stream by this thread. */
int cov_rt_use(int card, struct cov_err *e) COV_MUST_USE;
int cov_rt_copy_in(void *stream, void *card_memory, const void *host, size_t bytes,
                   struct cov_err *e) COV_MUST_USE;
int cov_rt_copy_out(void *stream, void *host, const void *card_memory, size_t bytes,
                    struct cov_err *e) COV_MUST_USE;
/* Whether the kernels since the last call could be queued. `what` is named in the failure. */
int cov_rt_launched(const char *what, struct cov_err *e) COV_MUST_USE;
/* Waits for all that is queued; sleeps meanwhile. */
int cov_rt_wait(void *stream, struct cov_err *e) COV_MUST_USE;

#endif
