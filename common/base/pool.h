/* pool.h - a fixed set of worker threads.
 *
 * The pool owns the cores: libraries that bring threads of their own are told to use one. Work
 * is split by fixed items, never by the number of threads, so that results do not depend on it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_POOL_H
#define COV_BASE_POOL_H

#include <stddef.h>

#include "common/base/err.h"

struct cov_pool;

/* One unit of work. `worker` is in [0, cov_pool_size): at most one unit runs per worker at a
 * time, so it may index scratch space. Fills *e and returns its code on failure. */
typedef int cov_task_fn(void *arg, size_t item, unsigned worker, struct cov_err *e);

/* Starts `n_threads` workers (at least 1), each with flush-to-zero arithmetic and all signals
 * blocked, which so go to the caller's thread. Free with cov_pool_free. */
int cov_pool_new(unsigned n_threads, struct cov_pool **out, struct cov_err *e) COV_MUST_USE;

/* Waits for what was submitted, ends the workers. NULL is accepted. */
void cov_pool_free(struct cov_pool *pool);

unsigned cov_pool_size(const struct cov_pool *pool);

/* Runs fn(arg, 0..n-1) on the workers and waits. After a failure no new item starts; of several
 * failures the one with the lowest item is returned, which does not depend on the number of
 * threads. Called by a worker of the same pool, it runs the items on that worker, in order. */
int cov_pool_for(struct cov_pool *pool, size_t n, cov_task_fn *fn, void *arg,
                 struct cov_err *e) COV_MUST_USE;

/* Queues fn(arg, item, worker) and returns. `done(done_arg, item, code, e)` (if not NULL) is
 * called by the worker when it has ended, with the failure in *e. Items start in the order in
 * which they, and calls of cov_pool_for, were queued. */
typedef void cov_done_fn(void *arg, size_t item, int code, const struct cov_err *e);
int cov_pool_submit(struct cov_pool *pool, cov_task_fn *fn, void *arg, size_t item,
                    cov_done_fn *done, void *done_arg, struct cov_err *e) COV_MUST_USE;

/* How many threads this process may use: the smaller of its CPU affinity and its cgroup's CPU quota
 * (v1 or v2, rounded up); at least 1. */
unsigned cov_pool_default_size(void);

#endif
