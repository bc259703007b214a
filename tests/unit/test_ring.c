/* test_ring.c - the ordered pipeline.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "common/base/ring.h"

enum { MAX_SLOTS = 16 };

#define NEVER UINT64_MAX

struct job {
    uint64_t n, fail_source, fail_work, fail_sink;
    uint64_t slots[MAX_SLOTS];
    atomic_bool busy[MAX_SLOTS];
    uint64_t n_filled, n_taken;
    size_t n_slots;
    atomic_int wrong, n_worked;
    bool works;
};

static int source(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    struct job *j = arg;
    if (n != j->n_filled || slot >= j->n_slots || j->n_filled - j->n_taken >= j->n_slots)
        j->wrong++;
    if (n == j->fail_source)
        return cov_fail(e, COV_EINPUT, "source %d", (int)n);
    if (n == j->n)
        return 0;
    j->n_filled++;
    j->slots[slot] = n;
    return 1;
}

static int work(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct job *j = arg;
    (void)worker;
    uint64_t n = j->slots[slot];
    if (atomic_exchange(&j->busy[slot], true))
        j->wrong++;
    if (n % 7 == 0) /* so that pieces end out of order */
        usleep(1000);
    j->slots[slot] = 10 * n;
    atomic_store(&j->busy[slot], false);
    j->n_worked++;
    if (n == j->fail_work)
        return cov_fail(e, COV_EIO, "work %d", (int)n);
    return COV_OK;
}

static int sink(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    struct job *j = arg;
    if (n != j->n_taken || j->slots[slot] != (j->works ? 10 * n : n) || j->busy[slot])
        j->wrong++;
    if (n == j->fail_sink)
        return cov_fail(e, COV_EPIPE, "sink %d", (int)n);
    j->n_taken++;
    return COV_OK;
}

static const struct cov_ring_stages stages = {source, work, sink};
static const struct cov_ring_stages idle_stages = {source, NULL, sink};

static struct job new_job(uint64_t n, size_t n_slots)
{
    return (struct job){.n = n,
                        .n_slots = n_slots,
                        .fail_source = NEVER,
                        .fail_work = NEVER,
                        .fail_sink = NEVER,
                        .works = true};
}

static void keeps_order(void **state)
{
    for (unsigned n_threads = 1; n_threads <= 4; n_threads++) {
        struct cov_pool *pool;
        assert_int_equal(cov_pool_new(n_threads, &pool, NULL), COV_OK);
        assert_int_equal(cov_ring_slots(pool), 2 * n_threads);
        for (size_t n_slots = 1; n_slots <= MAX_SLOTS; n_slots += 5)
            for (uint64_t n = 0; n <= 100; n += 50) {
                struct job j = new_job(n, n_slots);
                struct cov_ring_times t = {1, 1, 1, 1};
                assert_int_equal(cov_ring_run(pool, n_slots, &stages, &j, &t, NULL), COV_OK);
                assert_int_equal(j.wrong, 0);
                assert_int_equal(j.n_taken, n);
                assert_int_equal(j.n_worked, n);
                assert_true(t.source >= 1 && t.sink >= 1 && t.wait >= 1);
                assert_true(n ? t.work > 1.001 : t.work == 1);
            }
        cov_pool_free(pool);
    }
}

static void runs_without_work(void **state)
{
    struct job j = new_job(100, 3);
    j.works = false;
    assert_int_equal(cov_ring_run(NULL, 3, &idle_stages, &j, NULL, NULL), COV_OK);
    assert_int_equal(j.wrong, 0);
    assert_int_equal(j.n_taken, 100);
}

struct failing {
    uint64_t source, work, sink;
    int code;
    const char *text;
    uint64_t n_taken;
};

static void returns_earliest_failure(void **state)
{
    static const struct failing cases[] = {
        {40, NEVER, NEVER, COV_EINPUT, "source 40", 40},
        {0, NEVER, NEVER, COV_EINPUT, "source 0", 0},
        {NEVER, 40, NEVER, COV_EIO, "work 40", 40},
        {NEVER, 0, NEVER, COV_EIO, "work 0", 0},
        {NEVER, 99, NEVER, COV_EIO, "work 99", 99},
        {NEVER, NEVER, 40, COV_EPIPE, "sink 40", 40},
        {40, 38, NEVER, COV_EIO, "work 38", 38},
        {40, 39, 37, COV_EPIPE, "sink 37", 37},
        {40, 41, 42, COV_EINPUT, "source 40", 40},
    };
    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        struct cov_pool *pool;
        assert_int_equal(cov_pool_new(n_threads, &pool, NULL), COV_OK);
        for (size_t n_slots = 1; n_slots <= MAX_SLOTS; n_slots += 3)
            for (size_t i = 0; i < COV_COUNT(cases); i++) {
                struct job j = new_job(100, n_slots);
                j.fail_source = cases[i].source;
                j.fail_work = cases[i].work;
                j.fail_sink = cases[i].sink;
                struct cov_err e = COV_ERR_INIT;
                assert_int_equal(cov_ring_run(pool, n_slots, &stages, &j, NULL, &e), cases[i].code);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_order),
        cmocka_unit_test(runs_without_work),
        cmocka_unit_test(returns_earliest_failure),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
