/* example_batches.c - see example_batches.h.
 *
 * The feed: batch n is in slot n mod n_slots. The slot of the caller's batch becomes free when the
 * caller requests the next batch.
 * SPDX-License-Identifier: MIT */
#include "common/examples/example_batches.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/file/hash.h"

/* One example, or both strands of an interval. */
struct unit {
    struct cov_example items[2];
    size_t n;
};

struct maker {
    const struct cov_examples *x;
    const struct cov_example_plan_options *o;
    struct cov_rng rng;
    struct unit *units;
    size_t n_units, cap_units;
};

void cov_example_plan_fini(struct cov_example_plan *p)
{
    free(p->items);
    free(p->ends);
    *p = (struct cov_example_plan){0};
}

static int add_unit(struct maker *m, const struct unit *u, struct cov_err *e)
{
    int rc = COV_RESERVE(&m->units, &m->cap_units, m->n_units + 1, e);
    if (!rc)
        m->units[m->n_units++] = *u;
    return rc;
}

/* Adds the strands of an interval as one unit or as two. */
static int add_strands(struct maker *m, const struct unit *both, struct cov_err *e)
{
    int rc = COV_OK;
    if (m->o->strands != COV_STRANDS_ANYWHERE || both->n < 2)
        return both->n > 0 ? add_unit(m, both, e) : COV_OK;
    for (size_t k = 0; !rc && k < both->n; k++) {
        const struct unit one = {.items = {both->items[k]}, .n = 1};
        rc = add_unit(m, &one, e);
    }
    return rc;
}

static int add_rows(struct maker *m, size_t file, struct cov_err *e)
{
    size_t n = cov_grid_n_chunks(m->x->files[file].grid);
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        if (cov_examples_keeps(m->x, file, i)) {
            const struct unit one = {.items = {cov_example_of_row(m->x, file, i)}, .n = 1};
            rc = add_unit(m, &one, e);
        }
    return rc;
}

/* Returns the kept strands of a pair, as bits. */
static unsigned kept_strands(const struct maker *m, size_t file, const struct cov_pair *pair)
{
    unsigned kept = 0;
    for (int s = COV_PLUS; s <= COV_MINUS; s++)
        if (pair->rows[s] != COV_NO_ROW && cov_examples_keeps(m->x, file, pair->rows[s]))
            kept |= 1U << s;
    return kept;
}

/* Adds interval [beg, end), which is in pair p and possibly the next. */
static int add_interval(struct maker *m, size_t file, size_t p, int64_t beg, int64_t end,
                        unsigned kept, struct cov_err *e)
{
    const struct cov_grid *grid = m->x->files[file].grid;
    struct cov_pair pair = cov_grid_pair(grid, p), next = {.rows = {COV_NO_ROW, COV_NO_ROW}};
    struct unit u = {.n = 0};
    if (pair.end < end)
        next = cov_grid_pair(grid, p + 1);
    for (int s = COV_PLUS; s <= COV_MINUS; s++)
        if (kept & (1U << s))
            u.items[u.n++] = (struct cov_example){
                (uint32_t)file, s == COV_MINUS, {pair.rows[s], next.rows[s]}, beg, end};
    return add_strands(m, &u, e);
}

/* Cuts the stretch [beg, end), which starts with pair `first`, at a new offset. */
static int cut_stretch(struct maker *m, size_t file, size_t first, int64_t beg, int64_t end,
                       unsigned kept, struct cov_err *e)
{
    int64_t L = (int64_t)m->x->L, least = L / 8;
    int rc = COV_OK;
    if (end - beg <= L)
        return add_interval(m, file, first, beg, end, kept, e);
    int64_t at = beg, cut = beg + (int64_t)cov_rng_below(&m->rng, (uint64_t)L);
    while (!rc && at < end) {
        int64_t stop = at < cut ? cut : at + L;
        stop = stop < end ? stop : end;
        if (stop - at > least)
            rc = add_interval(m, file, first + (size_t)((at - beg) / L), at, stop, kept, e);
        at = stop;
    }
    return rc;
}

static int add_stretches(struct maker *m, size_t file, struct cov_err *e)
{
    const struct cov_grid *grid = m->x->files[file].grid;
    int64_t L = (int64_t)m->x->L;
    size_t n = cov_grid_n_pairs(grid);
    int rc = COV_OK;
    for (size_t p = 0; !rc && p < n;) {
        const struct cov_pair first = cov_grid_pair(grid, p);
        struct cov_pair last = first;
        unsigned kept = kept_strands(m, file, &first);
        size_t next = p + 1;
        for (; next < n && last.end - last.beg == L; next++) {
            struct cov_pair pair = cov_grid_pair(grid, next);
            if (pair.seq != first.seq || pair.beg != last.end ||
                kept_strands(m, file, &pair) != kept)
                break;
            last = pair;
        }
        rc = cut_stretch(m, file, p, first.beg, last.end, kept, e);
        p = next;
    }
    return rc;
}

static int add_pairs(struct maker *m, size_t file, struct cov_err *e)
{
    const struct cov_grid *grid = m->x->files[file].grid;
    int rc = COV_OK;
    for (size_t p = 0; !rc && p < cov_grid_n_pairs(grid); p++) {
        const struct cov_pair pair = cov_grid_pair(grid, p);
        rc = add_interval(m, file, p, pair.beg, pair.end, kept_strands(m, file, &pair), e);
    }
    return rc;
}

static void shuffle_units(struct cov_rng *rng, struct unit *units, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)cov_rng_below(rng, i);
        struct unit unit = units[j];
        units[j] = units[i - 1];
        units[i - 1] = unit;
    }
}

/* The units of a species: units[0 .. n), of which those before `next` have been drawn. */
struct stock {
    struct unit *units;
    size_t n, next;
};

/* Returns the next unit of a species; starts over, in another order, when all have been drawn. */
static struct unit draw(struct cov_rng *rng, struct stock *s)
{
    if (s->next == s->n) {
        shuffle_units(rng, s->units, s->n);
        s->next = 0;
    }
    return s->units[s->next++];
}

/* Moves the units of the species of file `first` to the end of `to`. */
static struct stock take_species(const struct maker *m, size_t first, bool *taken, struct unit *to)
{
    struct stock s = {.units = to};
    const char *species = m->x->files[first].species;
    for (size_t i = 0; i < m->n_units; i++) {
        size_t file = m->units[i].items[0].file;
        if (!taken[i] && strcmp(m->x->files[file].species, species) == 0) {
            s.units[s.n++] = m->units[i];
            taken[i] = true;
        }
    }
    s.next = s.n; /* the first draw shuffles them */
    return s;
}

/* Replaces the units by equally many of each species, which take turns in random order. */
static int balance(struct maker *m, struct cov_err *e)
{
    size_t n_files = m->x->n_files, n_stocks = 0, n = 0;
    struct unit *units = cov_malloc(m->n_units, sizeof *units, e);
    struct stock *stocks = cov_calloc(n_files, sizeof *stocks, e);
    bool *taken = cov_calloc(m->n_units, sizeof *taken, e);
    int rc = units && stocks && taken ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < m->n_units; i++)
        if (!taken[i]) {
            stocks[n_stocks] = take_species(m, m->units[i].items[0].file, taken, units + n);
            n += stocks[n_stocks++].n;
        }
    for (size_t i = 0; !rc && n_stocks > 0 && i < m->n_units; i++) {
        size_t turn = i % n_stocks, other = turn + (size_t)cov_rng_below(&m->rng, n_stocks - turn);
        struct stock s = stocks[other];
        m->units[i] = draw(&m->rng, &s);
        stocks[other] = stocks[turn];
        stocks[turn] = s;
    }
    free(units);
    free(stocks);
    free(taken);
    return rc;
}

/* Moves one strand of each pair to a second half of the epoch, in another random order: the strand
 * at place i there is drawn from the pairs up to i + n_pairs - two_steps, so that at least two_steps
 * examples are between it and its partner. Single strands are in the first half. */
static int separate_strands(struct maker *m, struct cov_err *e)
{
    size_t n_units = m->n_units, n_pairs = 0, two_steps = 2 * m->o->batch * m->o->accumulate;
    for (size_t i = 0; i < n_units; i++)
        n_pairs += m->units[i].n == 2;
    if (n_pairs == 0)
        return COV_OK;
    if (n_pairs < two_steps)
        return cov_fail(e, COV_EINPUT,
                        "--pair-strands=apart: %zu chunks with both strands are too few for steps "
                        "of %zu; use a smaller --batch-size (-b)",
                        n_pairs, two_steps / 2);
    int rc = COV_RESERVE(&m->units, &m->cap_units, n_units + n_pairs, e);
    for (size_t i = 0; !rc && i < n_units; i++) {
        struct unit *u = &m->units[i];
        if (u->n < 2)
            continue;
        size_t first = m->o->shuffle ? (size_t)cov_rng_below(&m->rng, 2) : 0;
        m->units[m->n_units++] = (struct unit){.items = {u->items[1 - first]}, .n = 1};
        *u = (struct unit){.items = {u->items[first]}, .n = 1};
    }
    struct unit *second = m->units + n_units;
    for (size_t i = 0; !rc && m->o->shuffle && i < n_pairs; i++) {
        size_t n = n_pairs - i < n_pairs - two_steps + 1 ? n_pairs - i : n_pairs - two_steps + 1;
        size_t j = i + (size_t)cov_rng_below(&m->rng, n);
        struct unit unit = second[j];
        second[j] = second[i];
        second[i] = unit;
    }
    return rc;
}

static int make_batches(const struct maker *m, struct cov_example_plan *p, struct cov_err *e)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_units; i++)
        n += m->units[i].n;
    p->items = cov_malloc(n, sizeof *p->items, e);
    p->ends = cov_malloc(n, sizeof *p->ends, e);
    if (!p->items || !p->ends)
        return COV_ENOMEM;
    size_t beg = 0;
    for (size_t i = 0; i < m->n_units; i++) {
        const struct unit *u = &m->units[i];
        if (p->n > beg && p->n - beg + u->n > m->o->batch)
            p->ends[p->n_batches++] = beg = p->n;
        for (size_t k = 0; k < u->n; k++)
            p->items[p->n++] = u->items[k];
    }
    if (p->n > beg)
        p->ends[p->n_batches++] = p->n;
    return COV_OK;
}

int cov_example_plan_init(struct cov_example_plan *p, const struct cov_examples *x,
                          const struct cov_example_plan_options *options, uint64_t epoch,
                          struct cov_err *e)
{
    struct maker m = {.x = x, .o = options};
    int rc = COV_OK;
    *p = (struct cov_example_plan){0};
    cov_rng_init(&m.rng, options->seed ^ ((epoch + 1) * 0x9e3779b97f4a7c15U));
    for (size_t file = 0; !rc && file < x->n_files; file++)
        rc = options->random_offset ? add_stretches(&m, file, e)
             : options->strands     ? add_pairs(&m, file, e)
                                    : add_rows(&m, file, e);
    if (!rc && options->balance_species)
        rc = balance(&m, e);
    else if (options->shuffle)
        shuffle_units(&m.rng, m.units, m.n_units);
    if (!rc && options->strands == COV_STRANDS_APART)
        rc = separate_strands(&m, e);
    if (!rc)
        rc = make_batches(&m, p, e);
    free(m.units);
    if (rc)
        cov_example_plan_fini(p);
    return rc;
}

int64_t cov_example_plan_fingerprint(const struct cov_example_plan *p)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct cov_example *x = &p->items[i];
        const uint64_t facts[] = {x->file,    x->minus,         x->rows[0],
                                  x->rows[1], (uint64_t)x->beg, (uint64_t)x->end};
        hash = cov_fingerprint(hash, facts, sizeof facts);
    }
    for (size_t i = 0; i < p->n_batches; i++) {
        const uint64_t end = p->ends[i];
        hash = cov_fingerprint(hash, &end, sizeof end);
    }
    return (int64_t)(hash >> 1);
}

/* ---------------------------------------------------------------- the feed */

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
static int feed_batch(struct cov_example_feed *f, size_t i, struct cov_err *e)
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

static void *feed_batches(void *arg)
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
        rc = feed_batch(f, f->n_made, &err);
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
    int why = pthread_create(&f->thread, NULL, feed_batches, f);
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
