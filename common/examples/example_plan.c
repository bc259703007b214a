/* example_plan.c - see example_plan.h.
 * SPDX-License-Identifier: MIT */
#include "common/examples/example_plan.h"

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
