/* pool.h - a fixed set of worker threads.
 *
 * A job's pool has --threads workers (tool.c; default: cov_pool_default_size), and more to wait
 * for GPUs (cov_device_waiting); its stages and their buffers: ring.h. Outside of it, htslib
 * decompresses BGZF and alignments in threads of its own, a writer of BGZF has another pool
 * (bgz.c), covtrain decodes batches in a thread (example_batches.c), and trains with one thread
 * for each of several GPUs (cuda_team.cu). Other libraries are limited to one thread.
 * Work is split into items that do not depend on the number of threads, so the results do not
 * depend on it either.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_POOL_H
#define COV_BASE_POOL_H

#include <stddef.h>

#include "common/base/err.h"

struct cov_pool;

/* Runs one item of work. `worker` is in [0, cov_pool_size). A worker runs one item at a time, so
 * `worker` may be used as an index into scratch space. On failure, fills *e and returns its
 * code. */
typedef int cov_task_fn(void *arg, size_t item, unsigned worker, struct cov_err *e);

/* Starts `n_threads` workers (at least 1) with flush-to-zero arithmetic. Signals are blocked in
 * the workers, so that the calling thread gets them. Free with cov_pool_free. */
int cov_pool_new(unsigned n_threads, struct cov_pool **out, struct cov_err *e) COV_MUST_USE;

/* Waits for all submitted items and ends the workers. NULL is accepted. */
void cov_pool_free(struct cov_pool *pool);

unsigned cov_pool_size(const struct cov_pool *pool);

/* Runs fn(arg, item, ...) for items 0..n-1 on the workers, and waits for them. After a failure,
 * no new item starts. Returns the failure of the lowest item that failed, which does not depend
 * on the number of threads. If a worker of the same pool calls this function, that worker runs
 * all items itself, in order. */
int cov_pool_for(struct cov_pool *pool, size_t n, cov_task_fn *fn, void *arg,
                 struct cov_err *e) COV_MUST_USE;

/* Queues fn(arg, item, worker) and returns. The worker then calls `done(done_arg, item, code,
 * e)`, unless it is NULL. Submitted items and calls of cov_pool_for start in the order in which
 * they were queued. */
typedef void cov_done_fn(void *arg, size_t item, int code, const struct cov_err *e);
int cov_pool_submit(struct cov_pool *pool, cov_task_fn *fn, void *arg, size_t item,
                    cov_done_fn *done, void *done_arg, struct cov_err *e) COV_MUST_USE;

/* Returns the number of threads that this process may use, at least 1: the smaller of the number
 * of CPUs in its affinity mask and its cgroup's CPU quota (v1 or v2, rounded up). */
unsigned cov_pool_default_size(void);

#endif
