/* ring.h - the pipeline of every job: a ring of slots that are allocated once.
 *
 *   source (caller's thread) -> work (any worker of the pool) -> sink (caller's thread, in order)
 *
 * Source and sink run on the calling thread, so only that thread calls HDF5. The slots are the only
 * memory used. The sink gets the slots in the order in which the source filled them, whatever the
 * number of threads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_RING_H
#define COV_BASE_RING_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"

struct cov_ring_stages {
    /* Fills `slot` with the n-th piece of work. Returns 1 if it did, 0 at the end of the input, or
     * a failure. */
    int (*source)(void *arg, size_t slot, uint64_t n, struct cov_err *e);
    /* Processes `slot`, in parallel with other slots. May be NULL; in that case the pool may be
     * NULL, too. */
    int (*work)(void *arg, size_t slot, unsigned worker, struct cov_err *e);
    /* Consumes the result. */
    int (*sink)(void *arg, size_t slot, uint64_t n, struct cov_err *e);
};

/* Times in seconds: source, sink and wait are wall time of the calling thread; work is the sum
 * over all workers. */
struct cov_ring_times {
    double source, work, sink, wait;
};

/* Runs the stages until the source ends or a stage fails; pieces before a failed one still reach
 * the sink. Waits for the workers. Returns the failure of the earliest piece that failed, which
 * does not depend on the number of threads and slots. Adds to *times; `times` may be NULL.
 * n_slots >= 1. */
int cov_ring_run(struct cov_pool *pool, size_t n_slots, const struct cov_ring_stages *stages,
                 void *arg, struct cov_ring_times *times, struct cov_err *e) COV_MUST_USE;

/* Returns two slots per worker, which keeps all workers and the calling thread busy. */
size_t cov_ring_slots(const struct cov_pool *pool);

#endif
