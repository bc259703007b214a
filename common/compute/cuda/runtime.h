/* runtime.h - the part of CUDA's runtime that the plugin uses: memory, streams, copies. cuda_runtime.cu
 * implements it with CUDA; tests implement it with guarded memory on the CPU (tests/mock/runtime_mock.cc).
 *
 * `card` is the index of a GPU. Work queued on a stream runs in order; only cov_rt_wait guarantees
 * that it is complete. All functions are thread-safe; a stream is used by one thread at a time.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_RUNTIME_H
#define COV_COMPUTE_CUDA_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

struct cov_rt_card {
    char name[256];
    int major, minor; /* compute capability */
    int n_multiprocessors;
    size_t shared_bytes;                 /* the most shared memory that a block may have */
    double clock_hz, memory_bytes_per_s; /* peak; 0: unknown */
};

/* Sets *n > 0 to the number of cards. Returns COV_EUNSUPPORTED if the driver or cards are
 * missing. */
int cov_rt_count(int *n, struct cov_err *e) COV_MUST_USE;
int cov_rt_describe(int card, struct cov_rt_card *out, struct cov_err *e) COV_MUST_USE;
/* Checks that the card can run the kernels of this build. */
int cov_rt_check(int card, struct cov_err *e) COV_MUST_USE;
int cov_rt_free_bytes(int card, size_t *out, struct cov_err *e) COV_MUST_USE;

/* Memory of a card, aligned to COV_RT_ALIGNMENT bytes. */
enum { COV_RT_ALIGNMENT = 256 };
static inline size_t cov_rt_round(size_t bytes)
{
    return (bytes + COV_RT_ALIGNMENT - 1) / COV_RT_ALIGNMENT * COV_RT_ALIGNMENT;
}

int cov_rt_alloc(int card, size_t bytes, void **out, struct cov_err *e) COV_MUST_USE;
void cov_rt_free(int card, void *p); /* NULL is accepted */
/* Pinned memory of the host, which a card copies from and to without the CPU. */
int cov_rt_alloc_host(int card, size_t bytes, void **out, struct cov_err *e) COV_MUST_USE;
void cov_rt_free_host(int card, void *p);

/* The streams on which the functions of kernels.h queue work. */
int cov_rt_stream_new(int card, void **out, struct cov_err *e) COV_MUST_USE;
void cov_rt_stream_free(int card, void *stream);
/* Selects the card for this thread; call it before queueing work on one of the card's streams. */
int cov_rt_use(int card, struct cov_err *e) COV_MUST_USE;
int cov_rt_copy_in(void *stream, void *card_memory, const void *host, size_t bytes,
                   struct cov_err *e) COV_MUST_USE;
int cov_rt_copy_out(void *stream, void *host, const void *card_memory, size_t bytes,
                    struct cov_err *e) COV_MUST_USE;

/* A graph: work that is queued at once, so that the host need not keep up with short kernels. From
 * cov_rt_record to cov_rt_recorded, what is queued on the stream is recorded and not run; it must not
 * be waited for, and all host memory must be pinned. Each replay uses the same addresses and
 * arguments. A recording ends even if cov_rt_recorded fails; then *graph is NULL, and nothing has
 * run. */
int cov_rt_record(void *stream, struct cov_err *e) COV_MUST_USE;
int cov_rt_recorded(void *stream, void **graph, struct cov_err *e) COV_MUST_USE;
int cov_rt_replay(void *stream, void *graph, struct cov_err *e) COV_MUST_USE;
void cov_rt_graph_free(int card, void *graph); /* NULL is accepted */

/* Fails if a kernel since the last call could not be queued; the message names `what`. */
int cov_rt_launched(const char *what, struct cov_err *e) COV_MUST_USE;
/* Waits for all queued work; the thread sleeps. */
int cov_rt_wait(void *stream, struct cov_err *e) COV_MUST_USE;
/* The same after a failure, too, because queued work may use memory that the caller frees or uses
 * again. rc: the status of queueing. Returns the first failure. */
static inline int cov_rt_finish(void *stream, int rc, struct cov_err *e)
{
    int waited = cov_rt_wait(stream, rc ? NULL : e);
    return rc ? rc : waited;
}

/* Returns a function of NVIDIA's library cuBLASLt, which the first call loads as the system finds
 * it; NULL: the library or the function is missing. */
void *cov_rt_cublas_function(const char *name);

#endif
