/* pool.h - a fixed set of worker threads.
 *
 * The pool is the only user of the cores: libraries that have their own threads are limited to one.
 * Work is split into fixed items, independent of the number of threads, so that results do not
 * depend on it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_POOL_H
#define COV_BASE_POOL_H

#include <stddef.h>

#include "common/base/err.h"

struct cov_pool;

/* One item of work. `worker` is in [0, cov_pool_size); a worker runs one item at a time, so it may
 * index scratch space. Fills *e and returns its code on failure. */
typedef int cov_task_fn(void *arg, size_t item, unsigned worker, struct cov_err *e);

/* Starts `n_threads` workers (at least 1), with flush-to-zero arithmetic and all signals blocked,
 * so that the calling thread gets them. Free with cov_pool_free. */
int cov_pool_new(unsigned n_threads, struct cov_pool **out, struct cov_err *e) COV_MUST_USE;

/* Waits for all submitted items and ends the workers. NULL is accepted. */
void cov_pool_free(struct cov_pool *pool);

unsigned cov_pool_size(const struct cov_pool *pool);

/* Runs fn(arg, 0..n-1) on the workers and waits. After a failure no new item starts; returns the
 * failure with the lowest item, which does not depend on the number of threads. A worker of the
 * same pool that calls it runs the items itself, in order. */
int cov_pool_for(struct cov_pool *pool, size_t n, cov_task_fn *fn, void *arg,
                 struct cov_err *e) COV_MUST_USE;

/* Queues fn(arg, item, worker) and returns. The worker then calls `done(done_arg, item, code, e)`,
 * unless it is NULL. Items start in the order in which they, and calls of cov_pool_for, were
 * queued. */
typedef void cov_done_fn(void *arg, size_t item, int code, const struct cov_err *e);
int cov_pool_submit(struct cov_pool *pool, cov_task_fn *fn, void *arg, size_t item,
                    cov_done_fn *done, void *done_arg, struct cov_err *e) COV_MUST_USE;

/* Threads that this process may use, at least 1: the smaller of its CPU affinity and its cgroup's
 * CPU quota (v1 or v2, rounded up). */
unsigned cov_pool_default_size(void);

#endif
