/* pool.c - see pool.h.
 *
 * There is one queue under one lock. An entry is a run of items; cov_pool_submit queues a run of
 * one item. An item (a chunk, a tile of a matrix) takes a millisecond or more, so taking the lock
 * for each item costs next to nothing.
 * SPDX-License-Identifier: MIT */
#include "common/base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "common/base/cpu.h"
#include "common/base/mem.h"

/* One call's items; next..end-1 have not been started yet. */
struct run {
    struct run *after;
    cov_task_fn *fn;
    void *arg;
    size_t next, end;
    size_t n_running;
    bool submitted; /* no caller waits: the worker calls `done` and frees the run */
    cov_done_fn *done;
    void *done_arg;
    /* The failure with the lowest item so far. */
    int code;
    size_t failed_item;
    struct cov_err err;
};

struct cov_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;  /* a run was queued, or the pool is ending */
    pthread_cond_t ended; /* a run of cov_pool_for has ended, or all workers have started */
    struct run *first, **last;
    bool ending;
    unsigned n_threads, n_started;
    unsigned n_ready; /* workers that have started to wait for work */
    struct worker {
        struct cov_pool *pool;
        unsigned index;
        pthread_t thread;
    } workers[];
};

/* The worker of the current thread, NULL in other threads. */
static _Thread_local const struct worker *current;

/* Makes the CPU treat denormal numbers as zero. They are a hundred times slower, and irrelevant
 * in the activations of a network. */
static void flush_denormals(void)
{
#if defined(__x86_64__)
    enum { FTZ = 0x8000, DAZ = 0x0040 };
    _mm_setcsr(_mm_getcsr() | FTZ | DAZ);
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    fpcr |= UINT64_C(1) << 24; /* FZ */
    __asm__ volatile("msr fpcr, %0" ::"r"(fpcr));
#endif
}

/* Removes the first run from the queue. */
static void unqueue(struct cov_pool *pool)
{
    pool->first = pool->first->after;
    if (!pool->first)
        pool->last = &pool->first;
}

/* Runs one item of the first run. The caller holds the lock on entry and on return. */
static void run_one(struct cov_pool *pool, unsigned index)
{
    struct run *run = pool->first;
    size_t item = run->next++;
    run->n_running++;
    if (run->next == run->end)
        unqueue(pool);
    pthread_mutex_unlock(&pool->lock);

    struct cov_err err = COV_ERR_INIT;
    int code = run->fn(run->arg, item, index, &err);
    if (run->submitted) {
        if (run->done)
            run->done(run->done_arg, item, code, &err);
        free(run);
        pthread_mutex_lock(&pool->lock);
        return;
    }

    pthread_mutex_lock(&pool->lock);
    if (code != COV_OK && (run->code == COV_OK || item < run->failed_item)) {
        run->code = code;
        run->failed_item = item;
        run->err = err;
    }
    if (code != COV_OK && run->next < run->end) {
        /* Runs are removed only from the front, so this one is still the first. */
        run->end = run->next;
        unqueue(pool);
    }
    if (--run->n_running == 0 && run->next == run->end)
        pthread_cond_broadcast(&pool->ended);
}

static void *work(void *arg)
{
    const struct worker *self = arg;
    struct cov_pool *pool = self->pool;
    char name[16];
    (void)snprintf(name, sizeof name, "cov-%u", self->index);
    (void)pthread_setname_np(pthread_self(), name);
    flush_denormals();
    current = self;

    pthread_mutex_lock(&pool->lock);
    if (++pool->n_ready == pool->n_threads)
        pthread_cond_broadcast(&pool->ended);
    for (;;) {
        if (pool->first)
            run_one(pool, self->index);
        else if (pool->ending)
            break;
        else
            pthread_cond_wait(&pool->work, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

int cov_pool_new(unsigned n_threads, struct cov_pool **out, struct cov_err *e)
{
    *out = NULL;
    if (n_threads == 0)
        n_threads = 1;
    size_t bytes;
    if (cov_size_mul(n_threads, sizeof(struct worker), &bytes) ||
        cov_size_add(bytes, sizeof(struct cov_pool), &bytes))
        return cov_fail(e, COV_ENOMEM, "too many threads: %u", n_threads);
    struct cov_pool *pool = cov_calloc(1, bytes, e);
    if (!pool)
        return COV_ENOMEM;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->ended, NULL);
    pool->last = &pool->first;
    pool->n_threads = n_threads;

    /* Workers inherit the signal mask, so signals go to the thread that started the workers. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = 0;
    for (unsigned i = 0; i < n_threads && !failed; i++) {
        pool->workers[i].pool = pool;
        pool->workers[i].index = i;
        failed = pthread_create(&pool->workers[i].thread, NULL, work, &pool->workers[i]);
        pool->n_started += !failed;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        errno = failed;
        int code =
            cov_fail_errno(e, "cannot start thread %u of %u", pool->n_started + 1, n_threads);
        cov_pool_free(pool);
        return code;
    }
    /* Waits until all workers are ready. While starting, they may hold locks of the C library or
     * a sanitizer, which the child of a fork (to probe an HDF5 file) would inherit. */
    pthread_mutex_lock(&pool->lock);
    while (pool->n_ready < n_threads)
        pthread_cond_wait(&pool->ended, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    *out = pool;
    return COV_OK;
}

void cov_pool_free(struct cov_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->ended);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

unsigned cov_pool_size(const struct cov_pool *pool)
{
    return pool->n_threads;
}

static void queue(struct cov_pool *pool, struct run *run)
{
    pthread_mutex_lock(&pool->lock);
    *pool->last = run;
    pool->last = &run->after;
    if (run->end - run->next == 1)
        pthread_cond_signal(&pool->work);
    else
        pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

int cov_pool_for(struct cov_pool *pool, size_t n, cov_task_fn *fn, void *arg, struct cov_err *e)
{
    if (n == 0)
        return COV_OK;
    if (current && current->pool == pool) {
        /* Waiting for the other workers could deadlock if they were waiting in the same way. */
        int code = COV_OK;
        for (size_t i = 0; i < n && code == COV_OK; i++)
            code = fn(arg, i, current->index, e);
        return code;
    }
    struct run run = {.fn = fn, .arg = arg, .end = n};
    queue(pool, &run);
    pthread_mutex_lock(&pool->lock);
    while (run.next < run.end || run.n_running)
        pthread_cond_wait(&pool->ended, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    if (run.code != COV_OK)
        return cov_fail(e, run.code, "%s", run.err.text);
    return COV_OK;
}

int cov_pool_submit(struct cov_pool *pool, cov_task_fn *fn, void *arg, size_t item,
                    cov_done_fn *done, void *done_arg, struct cov_err *e)
{
    struct run *run = cov_calloc(1, sizeof *run, e);
    if (!run)
        return COV_ENOMEM;
    run->fn = fn;
    run->arg = arg;
    run->next = item;
    run->end = item + 1;
    run->submitted = true;
    run->done = done;
    run->done_arg = done_arg;
    queue(pool, run);
    return COV_OK;
}

/* Returns the number of CPUs in the affinity mask; 0 if unknown. */
static unsigned affinity_cpus(void)
{
    /* The mask must be at least as large as the kernel's, whose size is unknown. */
    for (size_t n_cpus = 1024; n_cpus <= 1024 * 1024; n_cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(n_cpus);
        if (!set)
            return 0;
        size_t bytes = CPU_ALLOC_SIZE(n_cpus);
        int failed = sched_getaffinity(0, bytes, set);
        int number = errno;
        int count = failed ? 0 : CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (!failed)
            return (unsigned)count;
        if (number != EINVAL)
            return 0;
    }
    return 0;
}

unsigned cov_pool_default_size(void)
{
    unsigned cpus = affinity_cpus();
    unsigned quota = cov_cpu_quota("");
    if (quota && (quota < cpus || !cpus))
        cpus = quota;
    return cpus ? cpus : 1;
}
