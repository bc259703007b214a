/* test_pool.c - the thread pool and its default size.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <float.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "common/base/cpu.h"
#include "common/base/err.h"
#include "common/base/pool.h"

enum { N = 1000, MAX_THREADS = 5 };

struct counts {
    unsigned n_threads;
    atomic_int per_item[N];
    atomic_int busy[MAX_THREADS];
    atomic_int wrong;
};

static int count(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    struct counts *c = arg;
    if (worker >= c->n_threads || item >= N || atomic_fetch_add(&c->busy[worker], 1) != 0)
        atomic_fetch_add(&c->wrong, 1);
    atomic_fetch_add(&c->per_item[item], 1);
    atomic_fetch_sub(&c->busy[worker], 1);
    return COV_OK;
}

TEST(runs_every_item_once)
{
    for (unsigned n_threads = 1; n_threads <= MAX_THREADS; n_threads++) {
        struct cov_pool *pool;
        assert_ok(cov_pool_new(n_threads, &pool, &e));
        assert_int_equal(cov_pool_size(pool), n_threads);
        struct counts *c = unit_zeros(sizeof *c);
        c->n_threads = n_threads;
        assert_ok(cov_pool_for(pool, 0, count, c, &e));
        assert_ok(cov_pool_for(pool, N, count, c, &e));
        assert_ok(cov_pool_for(pool, 1, count, c, &e));
        assert_int_equal(c->wrong, 0);
        assert_int_equal(c->per_item[0], 2);
        for (int i = 1; i < N; i++)
            assert_int_equal(c->per_item[i], 1);
        cov_pool_free(pool);
    }
    cov_pool_free(NULL);
}

static int fail_from_100(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    atomic_fetch_add((atomic_int *)arg, 1);
    if (item < 100)
        return COV_OK;
    /* Of the failing items, the one with the lowest number ends last. */
    if (item == 100)
        usleep(20000);
    return cov_fail(e, COV_EINPUT, "item %zu", item);
}

TEST(returns_lowest_failure)
{
    for (unsigned n_threads = 1; n_threads <= 4; n_threads++) {
        struct cov_pool *pool;
        assert_ok(cov_pool_new(n_threads, &pool, &e));
        atomic_int n_run = 0;
        assert_fails_with(cov_pool_for(pool, N, fail_from_100, &n_run, &e), COV_EINPUT, "item 100");
        assert_true(n_run >= 101 && n_run <= 100 + (int)n_threads);
        /* The pool is still usable. */
        n_run = 0;
        assert_ok(cov_pool_for(pool, 100, fail_from_100, &n_run, &e));
        assert_int_equal(n_run, 100);
        cov_pool_free(pool);
    }
}

struct order {
    pthread_mutex_t lock;
    size_t started[N], n_started;
    int n_done, n_failed, wrong_text;
};

static int note_start(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    struct order *o = arg;
    pthread_mutex_lock(&o->lock);
    o->started[o->n_started++] = item;
    pthread_mutex_unlock(&o->lock);
    return item % 10 == 3 ? cov_fail(e, COV_EIO, "no %zu", item) : COV_OK;
}

static void note_done(void *arg, size_t item, int code, const struct cov_err *e)
{
    struct order *o = arg;
    char text[32];
    (void)snprintf(text, sizeof text, "no %zu", item);
    pthread_mutex_lock(&o->lock);
    o->n_done++;
    if (code == COV_EIO) {
        o->n_failed++;
        o->wrong_text += strcmp(e->text, text) != 0;
    }
    pthread_mutex_unlock(&o->lock);
}

TEST(submits_in_order)
{
    struct order o = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct cov_pool *pool;
    assert_ok(cov_pool_new(1, &pool, &e));
    for (size_t i = 0; i < N; i++)
        assert_ok(cov_pool_submit(pool, note_start, &o, i, note_done, &o, &e));
    cov_pool_free(pool); /* waits for all items */
    assert_int_equal(o.n_started, N);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(o.started[i], i);
    assert_int_equal(o.n_done, N);
    assert_int_equal(o.n_failed, N / 10);
    assert_int_equal(o.wrong_text, 0);
}

TEST(submits_without_done)
{
    struct order o = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct cov_pool *pool;
    assert_ok(cov_pool_new(2, &pool, &e));
    assert_ok(cov_pool_submit(pool, note_start, &o, 3, NULL, NULL, &e));
    cov_pool_free(pool);
    assert_int_equal(o.n_started, 1);
}

struct nested {
    struct cov_pool *pool;
    atomic_int sum, wrong;
};

struct inner {
    struct nested *outer;
    unsigned worker;
};

static int add(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    struct inner *in = arg;
    atomic_fetch_add(&in->outer->sum, (int)item);
    if (worker != in->worker)
        atomic_fetch_add(&in->outer->wrong, 1);
    return COV_OK;
}

static int nest(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    struct nested *n = arg;
    struct inner in = {n, worker};
    return cov_pool_for(n->pool, 11, add, &in, e);
}

TEST(runs_nested)
{
    struct nested n = {0};
    assert_ok(cov_pool_new(2, &n.pool, &e));
    assert_ok(cov_pool_for(n.pool, 20, nest, &n, &e));
    assert_int_equal(n.sum, 20 * 55);
    assert_int_equal(n.wrong, 0);
    cov_pool_free(n.pool);
}

static int look_at_thread(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (!sigismember(&mask, SIGINT) || !sigismember(&mask, SIGTERM))
        return cov_fail(e, COV_EINPUT, "signals are not blocked");
#if defined(__x86_64__) || defined(__aarch64__)
    volatile float small = FLT_MIN;
    volatile float half = 0.5F;
    volatile float denormal = small * half;
    if (denormal != 0)
        return cov_fail(e, COV_EINPUT, "denormal numbers are kept");
#endif
    return COV_OK;
}

TEST(workers_are_set_up)
{
    struct cov_pool *pool;
    assert_ok(cov_pool_new(2, &pool, &e));
    assert_ok(cov_pool_for(pool, 50, look_at_thread, NULL, &e));
    cov_pool_free(pool);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_false(sigismember(&mask, SIGINT));
}

TEST(has_a_default_size)
{
    assert_in_range(cov_pool_default_size(), 1, sysconf(_SC_NPROCESSORS_CONF));
}
