/* ring.h - the pipeline every job runs on: a ring of slots that are allocated once.
 *
 *   source (caller's thread) -> work (any worker of the pool) -> sink (caller's thread, in order)
 *
 * Source and sink run on the calling thread alone, which therefore is the one thread that calls
 * HDF5. Memory is that of the slots; the sink sees slots in the order in which the source filled
 * them, whatever the number of threads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_RING_H
#define COV_BASE_RING_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/pool.h"

struct cov_ring_stages {
    /* Fills `slot` with the n-th piece of work. Returns 1 when it did, 0 at the end of the
     * input, or a failure. */
    int (*source)(void *arg, size_t slot, uint64_t n, struct cov_err *e);
    /* Works on `slot`, in parallel with other slots. May be NULL, as the pool may then. */
    int (*work)(void *arg, size_t slot, unsigned worker, struct cov_err *e);
    /* Takes the result away. */
    int (*sink)(void *arg, size_t slot, uint64_t n, struct cov_err *e);
};

/* Seconds spent: source, sink and wait are wall time of the calling thread, work is the sum over
 * the workers. */
struct cov_ring_times {
    double source, work, sink, wait;
};

/* Runs the stages until the source ends or one of them fails; pieces before the one that failed
 * still reach the sink. Waits for the workers and returns the failure of the earliest piece,
 * which does not depend on the number of threads and slots. `times` (may be NULL) is added to.
 * n_slots >= 1. */
int cov_ring_run(struct cov_pool *pool, size_t n_slots, const struct cov_ring_stages *stages,
                 void *arg, struct cov_ring_times *times, struct cov_err *e) COV_MUST_USE;

/* A number of slots that keeps every worker and the calling thread busy: two a worker. */
size_t cov_ring_slots(const struct cov_pool *pool);

#endif
