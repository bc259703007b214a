/* test_ring.c - the ordered pipeline.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdatomic.h>

#include "common/base/ring.h"

enum { MAX_SLOTS = 16 };

#define NEVER UINT64_MAX

struct job {
    uint64_t n, fail_fetch, fail_work, fail_store;
    uint64_t n_filled, n_taken;
    size_t n_slots;
    atomic_int wrong, n_worked, n_open;
    bool works;
};

struct slot {
    uint64_t value;
    atomic_bool busy;
    uint64_t *copy; /* of the value, in the ring's memory */
};

struct worker {
    unsigned i;
    atomic_bool busy;
    uint64_t *copy;
};

static int fetch(void *arg, void *slot, struct cov_err *e)
{
    struct job *j = arg;
    struct slot *s = slot;
    const uint64_t n = j->n_filled;
    if (j->n_filled - j->n_taken >= j->n_slots)
        j->wrong++;
    if (n == j->fail_fetch)
        return cov_fail(e, COV_EINPUT, "fetch %d", (int)n);
    if (n == j->n)
        return 0;
    j->n_filled++;
    s->value = *s->copy = n;
    return 1;
}

static int work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    struct job *j = arg;
    struct slot *s = slot;
    struct worker *w = worker;
    const uint64_t n = s->value;
    if (atomic_exchange(&s->busy, true) || atomic_exchange(&w->busy, true))
        j->wrong++;
    *w->copy = 10 * n;
    if (n % 7 == 0) /* so that pieces end out of order */
        usleep(1000);
    if (*s->copy != n || *w->copy != 10 * n)
        j->wrong++;
    s->value = *s->copy = 10 * n;
    atomic_store(&s->busy, false);
    atomic_store(&w->busy, false);
    j->n_worked++;
    if (n == j->fail_work)
        return cov_fail(e, COV_EIO, "work %d", (int)n);
    return COV_OK;
}

static int store(void *arg, void *slot, struct cov_err *e)
{
    struct job *j = arg;
    const struct slot *s = slot;
    const uint64_t n = j->n_taken;
    if (s->value != (j->works ? 10 * n : n) || *s->copy != s->value || s->busy)
        j->wrong++;
    if (n == j->fail_store)
        return cov_fail(e, COV_EPIPE, "store %d", (int)n);
    j->n_taken++;
    return COV_OK;
}

static void init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    struct job *j = arg;
    struct slot *s = slot;
    s->copy = cov_arena_calloc(memory, 1, sizeof *s->copy);
    j->n_open++;
}

static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    struct job *j = arg;
    struct worker *w = worker;
    w->i = i;
    w->copy = cov_arena_calloc(memory, 1, sizeof *w->copy);
    j->n_open++;
}

static void fini(void *arg, void *any)
{
    struct job *j = arg;
    assert_non_null(any);
    j->n_open--;
}

/* Returns the test's job for the ring. */
static struct cov_ring_job ring(size_t n_slots, bool works)
{
    return (struct cov_ring_job){.fetch = fetch,
                                 .work = works ? work : NULL,
                                 .store = store,
                                 .slot_bytes = sizeof(struct slot),
                                 .worker_bytes = sizeof(struct worker),
                                 .n_slots = n_slots,
                                 .init_slot = init_slot,
                                 .fini_slot = fini,
                                 .init_worker = init_worker,
                                 .fini_worker = fini};
}

static int run(struct cov_pool *pool, struct job *j, struct cov_ring_times *t, struct cov_err *e)
{
    const struct cov_ring_job of = ring(j->n_slots, j->works);
    int rc = cov_ring_run_job(pool, &of, j, t, e);
    assert_int_equal(j->n_open, 0);
    return rc;
}

static struct job new_job(uint64_t n, size_t n_slots)
{
    return (struct job){.n = n,
                        .n_slots = n_slots,
                        .fail_fetch = NEVER,
                        .fail_work = NEVER,
                        .fail_store = NEVER,
                        .works = true};
}

TEST(keeps_order)
{
    for (unsigned n_threads = 1; n_threads <= 4; n_threads++) {
        struct cov_pool *pool;
        assert_ok(cov_pool_new(n_threads, &pool, &e));
        assert_int_equal(cov_ring_slots(pool), 2 * n_threads);
        for (size_t n_slots = 1; n_slots <= MAX_SLOTS; n_slots += 5)
            for (uint64_t n = 0; n <= 100; n += 50) {
                struct job j = new_job(n, n_slots);
                struct cov_ring_times t = {1, 1, 1, 1};
                assert_int_equal(run(pool, &j, &t, NULL), COV_OK);
                assert_int_equal(j.wrong, 0);
                assert_int_equal(j.n_taken, n);
                assert_int_equal(j.n_worked, n);
                assert_true(t.source >= 1 && t.sink >= 1 && t.wait >= 1);
                assert_true(n ? t.work > 1.001 : t.work == 1);
            }
        cov_pool_free(pool);
    }
}

TEST(runs_without_work)
{
    struct job j = new_job(100, 3);
    j.works = false;
    assert_int_equal(run(NULL, &j, NULL, NULL), COV_OK);
    assert_int_equal(j.wrong, 0);
    assert_int_equal(j.n_taken, 100);
}

struct failing {
    uint64_t fetch, work, store;
    int code;
    const char *text;
    uint64_t n_taken;
};

TEST(returns_earliest_failure)
{
    static const struct failing cases[] = {
        {40, NEVER, NEVER, COV_EINPUT, "fetch 40", 40},
        {0, NEVER, NEVER, COV_EINPUT, "fetch 0", 0},
        {NEVER, 40, NEVER, COV_EIO, "work 40", 40},
        {NEVER, 0, NEVER, COV_EIO, "work 0", 0},
        {NEVER, 99, NEVER, COV_EIO, "work 99", 99},
        {NEVER, NEVER, 40, COV_EPIPE, "store 40", 40},
        {40, 38, NEVER, COV_EIO, "work 38", 38},
        {40, 39, 37, COV_EPIPE, "store 37", 37},
        {40, 41, 42, COV_EINPUT, "fetch 40", 40},
    };
    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        struct cov_pool *pool;
        assert_ok(cov_pool_new(n_threads, &pool, &e));
        for (size_t n_slots = 1; n_slots <= MAX_SLOTS; n_slots += 3)
            for (size_t i = 0; i < COV_COUNT(cases); i++) {
                struct job j = new_job(100, n_slots);
                j.fail_fetch = cases[i].fetch;
                j.fail_work = cases[i].work;
                j.fail_store = cases[i].store;
                struct cov_err e = COV_ERR_INIT;
                assert_int_equal(run(pool, &j, NULL, &e), cases[i].code);
                assert_int_equal(e.code, cases[i].code);
                assert_string_equal(e.text, cases[i].text);
                assert_int_equal(j.n_taken, cases[i].n_taken);
                assert_int_equal(j.wrong, 0);
                /* All work has ended. */
                assert_int_equal(j.n_worked, j.n_filled);
            }
        cov_pool_free(pool);
    }
}

static void *too_much;

static void init_too_much(void *arg, void *slot, struct cov_arena *memory)
{
    init_slot(arg, slot, memory);
    too_much = cov_arena_calloc(memory, SIZE_MAX / 4, 8);
}

TEST(checks_its_memory)
{
    struct job j = new_job(100, 3);
    struct cov_ring_job of = ring(3, false);
    of.init_slot = init_too_much;
    assert_fails(cov_ring_run_job(NULL, &of, &j, NULL, &e), COV_ENOMEM, "out of memory");
    assert_null(too_much);
    assert_int_equal(j.n_filled, 0);
    assert_int_equal(j.n_open, 0);
    of.slot_bytes = PTRDIFF_MAX;
    assert_int_equal(cov_ring_run_job(NULL, &of, &j, NULL, NULL), COV_ENOMEM);
}
