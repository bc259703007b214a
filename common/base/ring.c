/* ring.c - see ring.h.
 *
 * Piece n uses slot n mod n_slots. The calling thread fills slots as long as one is free, which
 * keeps the workers' queue as long as possible; then it waits for the oldest piece.
 * SPDX-License-Identifier: MIT */
#include "common/base/ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/base/progress.h"

struct ring_slot {
    bool ended; /* its work has ended */
    int code;
    struct cov_err err;
    void *data; /* the job's */
};

struct ring {
    const struct cov_ring_job *job;
    void *arg;
    struct cov_pool *pool;
    struct cov_arena memory; /* of slots and workers */
    struct ring_slot *slots;
    size_t n_slots;
    void **workers; /* the job's */
    unsigned n_workers;
    uint64_t head, tail; /* the oldest piece not yet stored; the next to fetch */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the work on a slot has ended */
    double work_seconds;
    atomic_bool failed; /* work has failed: stop reading */
};

static int work_on(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct ring *r = arg;
    double beg = cov_clock();
    int code = r->job->work(r->arg, r->slots[slot].data, r->workers[worker], e);
    double seconds = cov_clock() - beg;
    pthread_mutex_lock(&r->lock);
    r->work_seconds += seconds;
    pthread_mutex_unlock(&r->lock);
    return code;
}

static void end_of_work(void *arg, size_t slot, int code, const struct cov_err *e)
{
    struct ring *r = arg;
    if (code != COV_OK)
        atomic_store(&r->failed, true);
    pthread_mutex_lock(&r->lock);
    r->slots[slot].code = code;
    if (code != COV_OK)
        r->slots[slot].err = *e;
    r->slots[slot].ended = true;
    pthread_cond_signal(&r->changed); /* only one thread waits */
    pthread_mutex_unlock(&r->lock);
}

/* Fills the next slot and hands it to the workers. Returns 1, or 0 at the end, or a failure. */
static int fetch_next(struct ring *r, struct cov_ring_times *t, struct cov_err *e)
{
    size_t i = (size_t)(r->tail % r->n_slots);
    struct ring_slot *slot = &r->slots[i];
    double beg = cov_clock();
    int got = r->job->fetch(r->arg, slot->data, e);
    t->source += cov_clock() - beg;
    if (got <= 0)
        return got;
    slot->code = COV_OK;
    cov_err_clear(&slot->err);
    slot->ended = !r->job->work;
    if (r->job->work) {
        int code = cov_pool_submit(r->pool, work_on, r, i, end_of_work, r, e);
        if (code != COV_OK)
            return code;
    }
    r->tail++;
    return 1;
}

static void wait_for(struct ring *r, struct ring_slot *slot, struct cov_ring_times *t)
{
    if (!r->job->work)
        return;
    double beg = cov_clock();
    pthread_mutex_lock(&r->lock);
    while (!slot->ended)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
    t->wait += cov_clock() - beg;
}

/* Waits for the oldest slot and stores it. */
static int store_next(struct ring *r, struct cov_ring_times *t, struct cov_err *e)
{
    struct ring_slot *slot = &r->slots[r->head % r->n_slots];
    wait_for(r, slot, t);
    if (slot->code != COV_OK)
        return cov_fail(e, slot->code, "%s", slot->err.text);
    double beg = cov_clock();
    int code = r->job->store(r->arg, slot->data, e);
    t->sink += cov_clock() - beg;
    if (code == COV_OK)
        r->head++;
    return code;
}

/* After a failure, reads no more input, but still stores earlier pieces. So the result is the
 * failure of the earliest piece that failed, whatever the number of threads and slots. */
static int turn(struct ring *r, struct cov_ring_times *t, struct cov_err *e)
{
    bool at_end = false;
    int code = COV_OK, source_code = COV_OK;
    struct cov_err source_err = COV_ERR_INIT;
    while (code == COV_OK) {
        if (!at_end && r->tail - r->head < r->n_slots && !atomic_load(&r->failed)) {
            int got = fetch_next(r, t, &source_err);
            at_end = got <= 0;
            source_code = got < 0 ? got : COV_OK;
        } else if (r->head < r->tail) {
            code = store_next(r, t, e);
        } else {
            break;
        }
    }
    for (uint64_t n = r->head; n < r->tail; n++)
        wait_for(r, &r->slots[n % r->n_slots], t);
    if (code == COV_OK && source_code != COV_OK)
        code = cov_fail(e, source_code, "%s", source_err.text);
    return code;
}

static int init_memory(struct ring *r, struct cov_err *e)
{
    const struct cov_ring_job *job = r->job;
    struct cov_arena *memory = &r->memory;
    r->slots = cov_arena_calloc(memory, r->n_slots, sizeof *r->slots);
    r->workers = cov_arena_calloc(memory, r->n_workers, sizeof *r->workers);
    for (size_t i = 0; r->slots && i < r->n_slots; i++)
        r->slots[i].data = cov_arena_calloc(memory, 1, job->slot_bytes);
    for (unsigned i = 0; r->workers && i < r->n_workers; i++)
        r->workers[i] = cov_arena_calloc(memory, 1, job->worker_bytes);
    int rc = cov_arena_check(memory, e);
    if (rc)
        return rc;
    for (size_t i = 0; job->init_slot && r->slots && i < r->n_slots; i++)
        job->init_slot(r->arg, r->slots[i].data, memory);
    for (unsigned i = 0; job->init_worker && r->workers && i < r->n_workers; i++)
        job->init_worker(r->arg, r->workers[i], i, memory);
    return cov_arena_check(memory, e);
}

static void fini_memory(struct ring *r)
{
    for (size_t i = 0; r->job->fini_slot && r->slots && i < r->n_slots; i++)
        if (r->slots[i].data)
            r->job->fini_slot(r->arg, r->slots[i].data);
    for (unsigned i = 0; r->job->fini_worker && r->workers && i < r->n_workers; i++)
        if (r->workers[i])
            r->job->fini_worker(r->arg, r->workers[i]);
    cov_arena_fini(&r->memory);
}

int cov_ring_run_job(struct cov_pool *pool, const struct cov_ring_job *job, void *arg,
                     struct cov_ring_times *times, struct cov_err *e)
{
    struct ring r = {.job = job,
                     .arg = arg,
                     .pool = pool,
                     .n_slots = job->n_slots ? job->n_slots
                                : pool       ? cov_ring_slots(pool)
                                             : 1,
                     .n_workers = job->work ? cov_pool_size(pool) : 0};
    struct cov_ring_times t = {0};
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.changed, NULL);
    atomic_init(&r.failed, false);
    int code = init_memory(&r, e);
    if (code == COV_OK)
        code = turn(&r, &t, e);
    fini_memory(&r);
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    if (times) {
        times->source += t.source;
        times->work += r.work_seconds;
        times->sink += t.sink;
        times->wait += t.wait;
    }
    return code;
}

size_t cov_ring_slots(const struct cov_pool *pool)
{
    return (size_t)2 * cov_pool_size(pool);
}
