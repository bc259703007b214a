/* ring.h - the pipeline of every job: a ring of slots that are allocated once.
 *
 *   fetch (caller's thread) -> work (any worker of the pool) -> store (caller's thread, in order)
 *
 * Fetch and store run on the calling thread, so only that thread calls HDF5. The ring owns the slots
 * and a buffer for each worker. Slots are stored in the order in which they were fetched, whatever
 * the number of threads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_RING_H
#define COV_BASE_RING_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/pool.h"

/* Slots and workers' buffers are zeroed, then initialised. Members may be NULL, except fetch and
 * store. `arg` is that of cov_ring_run_job. */
struct cov_ring_job {
    /* Fills `slot` with the next piece of work. Returns 1 if it did, 0 at the end of the input, or
     * a failure. */
    int (*fetch)(void *arg, void *slot, struct cov_err *e);
    /* Processes `slot`, in parallel with other slots. Without it, there are no workers, and the pool
     * may be NULL. */
    int (*work)(void *arg, void *slot, void *worker, struct cov_err *e);
    /* Consumes the result. */
    int (*store)(void *arg, void *slot, struct cov_err *e);
    size_t slot_bytes, worker_bytes;
    size_t n_slots; /* 0: cov_ring_slots */
    /* Take memory from an arena, which the ring checks and releases; fini releases what was added
     * later. `i` is the number of the worker. */
    void (*init_slot)(void *arg, void *slot, struct cov_arena *memory);
    void (*fini_slot)(void *arg, void *slot);
    void (*init_worker)(void *arg, void *worker, unsigned i, struct cov_arena *memory);
    void (*fini_worker)(void *arg, void *worker);
};

/* Times in seconds: source, sink and wait are wall time of the calling thread, for fetch and store;
 * work is the sum over all workers. */
struct cov_ring_times {
    double source, work, sink, wait;
};

/* Runs the job until fetch ends or a stage fails; pieces before a failed one are still stored. Waits
 * for the workers. Returns the failure of the earliest piece that failed, which does not depend on
 * the number of threads and slots. Adds to *times; `times` may be NULL. */
int cov_ring_run_job(struct cov_pool *pool, const struct cov_ring_job *job, void *arg,
                     struct cov_ring_times *times, struct cov_err *e) COV_MUST_USE;

/* Returns two slots per worker, which keeps all workers and the calling thread busy. */
size_t cov_ring_slots(const struct cov_pool *pool);

#endif
