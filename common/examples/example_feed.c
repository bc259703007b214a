/* example_feed.c - see example_feed.h.
 *
 * Batch n is in slot n mod n_slots. The slot of the caller's batch becomes free when the caller
 * requests the next batch.
 * SPDX-License-Identifier: MIT */
#include "common/examples/example_feed.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

struct cov_example_feed {
    struct cov_arena memory;
    struct cov_examples *x;
    size_t max_batch, n_slots, L, D;
    struct cov_feed_batch *slots;
    struct cov_example_raw *raw; /* [max_batch] */
    uint8_t *scratch;
    const struct cov_example_plan *plan;
    size_t share, n_shares;
    bool runs; /* the thread is running */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t n_made, n_taken; /* batches; the caller uses batch n_taken - 1 */
    bool stop;
    int code;
    struct cov_err err;
};

void cov_example_feed_free(struct cov_example_feed *f)
{
    if (!f)
        return;
    cov_example_feed_end(f);
    for (size_t i = 0; f->raw && i < f->max_batch; i++)
        cov_example_raw_fini(&f->raw[i]);
    cov_arena_fini(&f->memory);
    (void)pthread_mutex_destroy(&f->lock);
    (void)pthread_cond_destroy(&f->changed);
    free(f);
}

int cov_example_feed_new(struct cov_examples *x, size_t max_batch, size_t n_slots,
                         struct cov_example_feed **out, struct cov_err *e)
{
    assert(n_slots >= 2);
    *out = NULL;
    struct cov_example_feed *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->x = x;
    f->max_batch = max_batch;
    f->n_slots = n_slots;
    f->L = x->L;
    f->D = x->n_datasets;
    (void)pthread_mutex_init(&f->lock, NULL);
    (void)pthread_cond_init(&f->changed, NULL);
    f->slots = cov_arena_calloc(&f->memory, n_slots, sizeof *f->slots);
    f->scratch = cov_arena_calloc(&f->memory, x->scratch, 1);
    f->raw = cov_arena_calloc(&f->memory, max_batch, sizeof *f->raw);
    for (size_t i = 0; f->slots && i < n_slots; i++) {
        struct cov_feed_batch *b = &f->slots[i];
        b->codes = cov_arena_calloc(&f->memory, max_batch, f->L);
        b->targets = cov_arena_values(&f->memory, max_batch, f->L, f->D);
        b->present = cov_arena_calloc(&f->memory, max_batch, f->D * sizeof *b->present);
    }
    int rc = cov_arena_check(&f->memory, e);
    if (rc) {
        cov_example_feed_free(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

void cov_example_feed_share(size_t n, size_t share, size_t n_shares, size_t *beg, size_t *end)
{
    size_t each = n / n_shares, rest = n % n_shares;
    *beg = share * each + (share < rest ? share : rest);
    *end = *beg + each + (share < rest);
}

/* Fetches all examples before decoding, so that data of other processes is awaited only once. */
static int make_batch(struct cov_example_feed *f, size_t i, struct cov_err *e)
{
    struct cov_feed_batch *b = &f->slots[i % f->n_slots];
    size_t first = i > 0 ? f->plan->ends[i - 1] : 0, beg, end;
    cov_example_feed_share(f->plan->ends[i] - first, f->share, f->n_shares, &beg, &end);
    assert(end - beg <= f->max_batch);
    const struct cov_example *items = f->plan->items + first + beg;
    int rc = COV_OK;
    b->n = end - beg;
    for (size_t k = 0; !rc && k < b->n; k++)
        rc = cov_examples_fetch(f->x, &items[k], &f->raw[k], e);
    if (!rc)
        rc = cov_examples_complete(f->x, e);
    for (size_t k = 0; !rc && k < b->n; k++) {
        rc = cov_examples_decode(f->x, &items[k], &f->raw[k], f->scratch, b->codes + k * f->L,
                                 b->targets + k * f->L * f->D, e);
        /* An example cut from two rows may be a gap although its rows are not; such an example has
         * no targets. */
        bool gap =
            !rc && cov_example_is_gap(b->codes + k * f->L, (size_t)(items[k].end - items[k].beg));
        const bool *present = f->x->files[items[k].file].present;
        for (size_t d = 0; d < f->D; d++)
            b->present[k * f->D + d] = present[d] && !gap;
    }
    return rc;
}

static void *make_batches(void *arg)
{
    struct cov_example_feed *f = arg;
    struct cov_err err = COV_ERR_INIT;
    int rc = COV_OK;
    (void)pthread_mutex_lock(&f->lock);
    while (!f->stop && !rc && f->n_made < f->plan->n_batches) {
        /* All slots are full or in use by the caller. */
        if (f->n_made - (f->n_taken > 0 ? f->n_taken - 1 : 0) == f->n_slots) {
            (void)pthread_cond_wait(&f->changed, &f->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&f->lock);
        rc = make_batch(f, f->n_made, &err);
        (void)pthread_mutex_lock(&f->lock);
        if (!rc)
            f->n_made++;
        f->code = rc;
        f->err = err;
        (void)pthread_cond_broadcast(&f->changed);
    }
    (void)pthread_mutex_unlock(&f->lock);
    return NULL;
}

int cov_example_feed_begin(struct cov_example_feed *f, const struct cov_example_plan *plan,
                           size_t first, size_t share, size_t n_shares, struct cov_err *e)
{
    cov_example_feed_end(f);
    f->plan = plan;
    f->share = share;
    f->n_shares = n_shares;
    f->n_made = f->n_taken = first;
    f->stop = false;
    f->code = COV_OK;
    f->err = (struct cov_err)COV_ERR_INIT;
    /* Signals are handled by the calling thread. */
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int why = pthread_create(&f->thread, NULL, make_batches, f);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    f->runs = why == 0;
    return why ? cov_fail(e, COV_EIO, "cannot start a thread: %s", strerror(why)) : COV_OK;
}

int cov_example_feed_next(struct cov_example_feed *f, const struct cov_feed_batch **batch,
                          struct cov_err *e)
{
    (void)pthread_mutex_lock(&f->lock);
    /* The caller has finished with batch n_taken - 1 only now. */
    size_t n = f->n_taken;
    while (f->n_made <= n && !f->code && n < f->plan->n_batches)
        (void)pthread_cond_wait(&f->changed, &f->lock);
    bool there = f->n_made > n;
    int rc = there ? 1 : f->code ? cov_fail(e, f->code, "%s", f->err.text) : 0;
    if (there)
        f->n_taken = n + 1;
    (void)pthread_cond_broadcast(&f->changed);
    (void)pthread_mutex_unlock(&f->lock);
    *batch = there ? &f->slots[n % f->n_slots] : NULL;
    return rc;
}

void cov_example_feed_end(struct cov_example_feed *f)
{
    if (!f->runs)
        return;
    (void)pthread_mutex_lock(&f->lock);
    f->stop = true;
    (void)pthread_cond_broadcast(&f->changed);
    (void)pthread_mutex_unlock(&f->lock);
    (void)pthread_join(f->thread, NULL);
    f->runs = false;
}
