/* ring.c - see ring.h.
 *
 * Piece n uses slot n mod n_slots. The calling thread fills slots as long as one is free, which
 * keeps the workers' queue as long as possible; then it waits for the oldest piece.
 * SPDX-License-Identifier: MIT */
#include "common/base/ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/mem.h"

struct slot {
    bool ended; /* its work has ended */
    int code;
    struct cov_err err;
};

struct ring {
    const struct cov_ring_stages *stages;
    void *arg;
    struct cov_pool *pool;
    struct slot *slots;
    size_t n_slots;
    uint64_t head, tail; /* the oldest piece not yet passed to the sink; the next to fill */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the work on a slot has ended */
    double work_seconds;
    atomic_bool failed; /* work has failed: stop reading */
};

static int work(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct ring *r = arg;
    double beg = cov_clock();
    int code = r->stages->work(r->arg, slot, worker, e);
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
static int fill(struct ring *r, struct cov_ring_times *t, struct cov_err *e)
{
    size_t i = (size_t)(r->tail % r->n_slots);
    struct slot *slot = &r->slots[i];
    double beg = cov_clock();
    int got = r->stages->source(r->arg, i, r->tail, e);
    t->source += cov_clock() - beg;
    if (got <= 0)
        return got;
    slot->code = COV_OK;
    cov_err_clear(&slot->err);
    slot->ended = !r->stages->work;
    if (r->stages->work) {
        int code = cov_pool_submit(r->pool, work, r, i, end_of_work, r, e);
        if (code != COV_OK)
            return code;
    }
    r->tail++;
    return 1;
}

static void wait_for(struct ring *r, struct slot *slot, struct cov_ring_times *t)
{
    if (!r->stages->work)
        return;
    double beg = cov_clock();
    pthread_mutex_lock(&r->lock);
    while (!slot->ended)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
    t->wait += cov_clock() - beg;
}

/* Waits for the oldest slot and passes it to the sink. */
static int take(struct ring *r, struct cov_ring_times *t, struct cov_err *e)
{
    size_t i = (size_t)(r->head % r->n_slots);
    struct slot *slot = &r->slots[i];
    wait_for(r, slot, t);
    if (slot->code != COV_OK)
        return cov_fail(e, slot->code, "%s", slot->err.text);
    double beg = cov_clock();
    int code = r->stages->sink(r->arg, i, r->head, e);
    t->sink += cov_clock() - beg;
    if (code == COV_OK)
        r->head++;
    return code;
}

/* After a failure, reads no more input, but still passes earlier pieces to the sink. So the
 * result is the failure of the earliest piece that failed, whatever the number of threads and
 * slots. */
static int run(struct ring *r, struct cov_ring_times *t, struct cov_err *e)
{
    bool at_end = false;
    int code = COV_OK, source_code = COV_OK;
    struct cov_err source_err = COV_ERR_INIT;
    while (code == COV_OK) {
        if (!at_end && r->tail - r->head < r->n_slots && !atomic_load(&r->failed)) {
            int got = fill(r, t, &source_err);
            at_end = got <= 0;
            source_code = got < 0 ? got : COV_OK;
        } else if (r->head < r->tail) {
            code = take(r, t, e);
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

int cov_ring_run(struct cov_pool *pool, size_t n_slots, const struct cov_ring_stages *stages,
                 void *arg, struct cov_ring_times *times, struct cov_err *e)
{
    struct ring r = {.stages = stages, .arg = arg, .pool = pool};
    struct cov_ring_times t = {0};
    r.n_slots = n_slots ? n_slots : 1;
    r.slots = cov_calloc(r.n_slots, sizeof *r.slots, e);
    if (!r.slots)
        return COV_ENOMEM;
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.changed, NULL);
    atomic_init(&r.failed, false);

    int code = run(&r, &t, e);

    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    free(r.slots);
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
