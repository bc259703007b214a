/* test_ranks.c - rows distributed over processes, which are threads in this test. Tests owners,
 * rows that cross blocks and pieces, omitted rows, processes without rows, and failures.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <pthread.h>

#include "common/examples/ranks.h"

enum { N = 4, N_ROWS = 40, MAX_WINDOWS = 16, MAX_GETS = N_ROWS * 4 };

/* ---------------------------------------------------------------- threads as processes */

struct request {
    const uint8_t *from;
    void *to;
    size_t n;
};

struct window {
    size_t number;
    struct request gets[MAX_GETS];
    size_t n_gets;
};

static pthread_barrier_t barrier;
static uint8_t *bases[N][MAX_WINDOWS];
static size_t sizes[N][MAX_WINDOWS];
static double sums[1000];
static _Thread_local size_t self, n_windows;
static _Thread_local int fail_share; /* share() fails */
static size_t n_unshared;

static void wait_for_all(void)
{
    (void)pthread_barrier_wait(&barrier);
}

static int sum(double *v, size_t n, struct cov_err *e)
{
    for (size_t k = 0; k < N; k++) {
        wait_for_all();
        for (size_t i = 0; k == self && i < n; i++)
            sums[i] = (k > 0 ? sums[i] : 0) + v[i];
    }
    wait_for_all();
    memcpy(v, sums, n * sizeof *v);
    wait_for_all();
    return COV_OK;
}

static int share(size_t n, void **window, void **base, struct cov_err *e)
{
    if (fail_share)
        return cov_fail(e, COV_EIO, "no memory");
    struct window *w = must(calloc(1, sizeof *w));
    w->number = n_windows++;
    *window = w;
    *base = bases[self][w->number] = malloc(n + 1);
    sizes[self][w->number] = n;
    return COV_OK;
}

static int publish(void *window, struct cov_err *e)
{
    wait_for_all();
    return COV_OK;
}

/* Only `complete` makes the data available. */
static int get(void *window, size_t rank, size_t at, size_t n, void *to, struct cov_err *e)
{
    struct window *w = window;
    if (n == 0 || at > sizes[rank][w->number] || n > sizes[rank][w->number] - at ||
        w->n_gets == MAX_GETS)
        return cov_fail(e, COV_EIO, "outside");
    w->gets[w->n_gets++] = (struct request){bases[rank][w->number] + at, to, n};
    return COV_OK;
}

static int complete(void *window, struct cov_err *e)
{
    struct window *w = window;
    if (w->n_gets == 0)
        return cov_fail(e, COV_EIO, "for nothing");
    for (size_t i = 0; i < w->n_gets; i++)
        memcpy(w->gets[i].to, w->gets[i].from, w->gets[i].n);
    w->n_gets = 0;
    return COV_OK;
}

static void release(void *window)
{
    struct window *w = window;
    free(bases[self][w->number]);
    free(w);
    (void)__atomic_add_fetch(&n_unshared, 1, __ATOMIC_SEQ_CST);
}

static void close_ranks(void)
{
}

static const struct cov_ranks_ops ops = {
    .sum = sum,
    .share = share,
    .publish = publish,
    .get = get,
    .complete = complete,
    .unshare = release,
    .close = close_ranks,
};

/* ---------------------------------------------------------------- the rows */

/* The second process has no rows, the third has few. */
static const size_t firsts[N + 1] = {0, 15, 15, 18, N_ROWS};
static size_t n_pieces_seen, n_wrong_of[N];

/* Returns the size of row i, which is 1,000 to 2.5 million bytes. Every seventh row is omitted. */
static size_t size_of(size_t i)
{
    return i % 7 == 3 ? 0 : i % 5 == 0 ? 2500000 + i : 1000 + 37 * i;
}

static uint8_t byte_of(size_t i, size_t at)
{
    return (uint8_t)(i * 31 + at * 7 + at / 251);
}

static int put_rows(struct cov_rank_rows *k)
{
    uint8_t *data = malloc(3000000);
    int rc = data ? COV_OK : COV_ENOMEM;
    for (size_t i = firsts[self]; !rc && i < firsts[self + 1]; i++) {
        for (size_t at = 0; at < size_of(i); at++)
            data[at] = byte_of(i, at);
        if (size_of(i) > 0)
            rc = cov_rank_rows_put(k, i, data, size_of(i), NULL);
    }
    free(data);
    return rc;
}

static size_t count_wrong(const struct cov_blob *row, size_t i)
{
    size_t n, n_wrong = 0;
    const uint8_t *data = cov_blob_piece(row, 0, &n);
    for (size_t at = 0; at < n; at++)
        n_wrong += data[at] != byte_of(i, at);
    return n_wrong + (n != size_of(i)) + (row->n_pieces != 1);
}

/* Gets all rows, several at a time; returns the number of errors. */
static size_t check_rows(struct cov_rank_rows *k)
{
    struct cov_blob rows[3] = {COV_BLOB_INIT, COV_BLOB_INIT, COV_BLOB_INIT};
    size_t n_wrong = 0, numbers[3], n = 0;
    for (size_t j = 0; j < N_ROWS; j++) {
        size_t i = (j * 13 + self) % N_ROWS; /* each process in a different order */
        n_wrong += cov_rank_rows_bytes(k, i) != size_of(i);
        if (size_of(i) > 0) {
            n_wrong += cov_rank_rows_get(k, i, &rows[n], NULL) != COV_OK;
            numbers[n++] = i;
        }
        if (n < 3 && j + 1 < N_ROWS)
            continue;
        n_wrong += cov_rank_rows_complete(k, NULL) != COV_OK;
        while (n > 0) {
            n--;
            n_wrong += count_wrong(&rows[n], numbers[n]);
        }
    }
    n_wrong += cov_rank_rows_complete(k, NULL) != COV_OK; /* no transfer is pending */
    for (size_t i = 0; i < 3; i++)
        cov_blob_fini(&rows[i]);
    return n_wrong;
}

static void *one_process(void *arg)
{
    self = *(size_t *)arg;
    n_windows = 0;
    struct cov_ranks ranks = {.ops = &ops, .rank = self, .n = N};
    struct cov_rank_rows *k = NULL;
    size_t n_wrong = cov_ranks_agree(&ranks, COV_OK, NULL) != COV_OK;
    n_wrong += cov_rank_rows_new(&ranks, N_ROWS, firsts, &k, NULL) != COV_OK;
    n_wrong += put_rows(k) != COV_OK;
    n_wrong += cov_rank_rows_publish(k, NULL) != COV_OK;
    n_wrong += check_rows(k);
    n_wrong += ranks.n_shared != n_windows;
    if (self == 0)
        n_pieces_seen = n_windows;
    wait_for_all();
    cov_rank_rows_free(k);
    n_wrong += self == 0 && n_unshared > 0;
    const int rc = cov_ranks_agree(&ranks, self < 2 ? COV_OK : COV_EIO, NULL);
    n_wrong += rc != (self < 2 ? COV_EINPUT : COV_EIO);
    n_wrong += ranks.n_failed != 2 || ranks.first_failed != 2;
    cov_ranks_close(&ranks, false);
    n_wrong_of[self] = n_wrong;
    return NULL;
}

/* Runs a process in each thread. */
static void run_processes(void *(*process)(void *))
{
    pthread_t threads[N];
    size_t numbers[N];
    assert_int_equal(pthread_barrier_init(&barrier, NULL, N), 0);
    for (size_t i = 0; i < N; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, process, &numbers[i]), 0);
    }
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(n_wrong_of[i], 0);
    }
    (void)pthread_barrier_destroy(&barrier);
}

TEST(test_spread)
{
    n_unshared = 0;
    run_processes(one_process);
    assert_true(n_pieces_seen > 1);
    assert_int_equal(n_unshared, N * n_pieces_seen);
}

/* Compares three items, of which rank 2 has the second with other bits or, without any, only two. */
static const char *compare(struct cov_ranks *ranks, uint64_t other_bits, struct cov_err *mine)
{
    struct cov_rank_item items[] = {{"a", UINT64_MAX}, {"b", 1234567890123456789}, {"c", 7}};
    const bool differs = ranks->rank == 2;
    items[1].fingerprint ^= differs ? other_bits : 0;
    cov_err_clear(mine);
    return cov_ranks_compare(ranks, items, differs && !other_bits ? 2 : 3, mine) ? mine->text : "";
}

static void *compare_process(void *arg)
{
    static const struct {
        uint64_t bits;
        const char *text;
    } cases[] = {{1, "b: not the same in rank 2 on host "},
                 {(uint64_t)1 << 32, "b: not the same in rank 2 on host "},
                 {(uint64_t)1 << 63, "b: not the same in rank 2 on host "},
                 {0, "c: not the same in rank 2 on host "}};
    struct cov_err mine = COV_ERR_INIT;
    self = *(size_t *)arg;
    struct cov_ranks ranks = {.ops = &ops, .rank = self, .n = N};
    struct cov_rank_item same[] = {{"a", UINT64_MAX}, {"b", 0}};
    size_t n_wrong = cov_ranks_compare(&ranks, same, 2, NULL) != COV_OK;
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const char *text = self == 2 && cases[i].bits == 0 ? "further files: not" : cases[i].text;
        n_wrong += strncmp(compare(&ranks, cases[i].bits, &mine), text, strlen(text)) != 0;
    }
    n_wrong_of[self] = n_wrong;
    return NULL;
}

TEST(test_compare)
{
    run_processes(compare_process);
}

/* When sharing fails, nothing needs to be closed afterwards. There is a single process, so that
 * none waits for another. */
TEST(test_failure)
{
    const size_t all[] = {0, 3};
    const uint8_t data[4] = {1, 2, 3, 4};
    static const struct cov_ranks_ops alone = {.share = share, .unshare = release};
    struct cov_ranks ranks = {.ops = &alone, .n = 1};
    struct cov_rank_rows *k;
    self = n_windows = 0;
    assert_ok(cov_rank_rows_new(&ranks, 3, all, &k, &e));
    assert_ok(cov_rank_rows_put(k, 1, data, sizeof data, &e));
    cov_rank_rows_free(k); /* not published */
    cov_ranks_close(&ranks, true);

    fail_share = 1;
    ranks = (struct cov_ranks){.ops = &alone, .n = 1};
    void *window, *base;
    assert_fails_with(cov_ranks_share(&ranks, 4, &window, &base, &e), COV_EIO, "no memory");
    assert_int_equal(ranks.n_shared, 0);
    size_t before = n_unshared;
    fail_share = 0;
    assert_ok(cov_ranks_share(&ranks, 4, &window, &base, &e));
    free(base);
    free(window);
    cov_ranks_close(&ranks, true);
    assert_int_equal(n_unshared, before);
}
