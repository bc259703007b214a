/* value_counts.c - see value_counts.h. A hash table of keys: integers in the order of the floats.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/value_counts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

static const uint32_t SIGN = 0x80000000U;

static uint32_t key_of(float value)
{
    uint32_t bits;
    value += 0.0F; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

int cov_value_counts_init(struct cov_value_counts *c, size_t max, struct cov_err *e)
{
    uint32_t n_slots = 1;
    assert(max >= 4096 && max <= COV_VALUE_COUNTS);
    while (n_slots < 2 * max)
        n_slots *= 2;
    *c = (struct cov_value_counts){.max = max, .n_slots = n_slots};
    c->slots = cov_calloc(n_slots, sizeof *c->slots, e);
    c->room = cov_calloc(max + 1, sizeof *c->room, e);
    return c->slots && c->room ? COV_OK : COV_ENOMEM;
}

void cov_value_counts_fini(struct cov_value_counts *c)
{
    free(c->slots);
    free(c->room);
    *c = (struct cov_value_counts){0};
}

/* Finds the slot of a key, which may be empty. */
static struct cov_value_count *find(const struct cov_value_counts *c, uint32_t key)
{
    uint32_t i = key * 2654435769U;
    for (i ^= i >> 15;; i++) {
        struct cov_value_count *slot = &c->slots[i & (c->n_slots - 1)];
        if (slot->n == 0 || slot->key == key)
            return slot;
    }
}

static void put(struct cov_value_counts *c, const struct cov_value_count *from)
{
    const uint32_t key = key_of(from->value) >> c->shift;
    struct cov_value_count *slot = find(c, key);
    if (slot->n == 0) {
        *slot = (struct cov_value_count){.value = from->value, .key = key};
        c->n++;
    }
    slot->n += from->n;
    slot->n_positive += from->n_positive;
    if (from->value < slot->value)
        slot->value = from->value;
}

static int by_value(const void *a, const void *b)
{
    float x = ((const struct cov_value_count *)a)->value;
    float y = ((const struct cov_value_count *)b)->value;
    return (x < y) - (x > y);
}

/* Copies the counts to c->room, by descending value. */
static void sort(struct cov_value_counts *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_slots; i++)
        if (c->slots[i].n > 0)
            c->room[n++] = c->slots[i];
    qsort(c->room, n, sizeof *c->room, by_value);
}

/* Ignores more bits of the keys until they fit. */
static void coarsen(struct cov_value_counts *c)
{
    size_t n = c->n;
    sort(c);
    while (n > c->max) {
        n = 1;
        c->shift++;
        for (size_t i = 1; i < c->n; i++)
            n += key_of(c->room[i].value) >> c->shift != key_of(c->room[i - 1].value) >> c->shift;
    }
    n = c->n;
    c->n = 0;
    memset(c->slots, 0, c->n_slots * sizeof *c->slots);
    for (size_t i = 0; i < n; i++)
        put(c, &c->room[i]);
}

void cov_value_counts_add(struct cov_value_counts *c, float value, uint64_t n, uint64_t n_positive)
{
    const struct cov_value_count one = {.n = n, .n_positive = n_positive, .value = value};
    put(c, &one);
    if (c->n > c->max)
        coarsen(c);
}

const struct cov_value_count *cov_value_counts_sort(struct cov_value_counts *c)
{
    sort(c);
    return c->room;
}

/* ---- the values of a whole track ---- */

/* A value this close to a multiple of the step, relatively, belongs to that multiple: as a float,
 * 0.7 is 0.69999999. */
static const double CLOSE = 1e-6;

static int add(struct cov_track_sink *sink, const struct cov_interval *iv, size_t n,
               struct cov_err *e)
{
    (void)e;
    struct cov_spread *s = (struct cov_spread *)sink;
    for (size_t i = 0; i < n; i++)
        cov_value_counts_add(&s->counts, iv[i].value, (uint64_t)(iv[i].end - iv[i].beg), 0);
    return COV_OK;
}

static void free_sink(struct cov_track_sink *sink)
{
    cov_value_counts_fini(&((struct cov_spread *)sink)->counts);
}

int cov_spread_init(struct cov_spread *s, const char *name, const struct cov_track_contigs *contigs,
                    struct cov_err *e)
{
    static const struct cov_track_format format = {.add = add, .free = free_sink};
    *s = (struct cov_spread){0};
    s->sink.format = &format; /* for cov_track_free */
    int rc = cov_value_counts_init(&s->counts, COV_VALUE_COUNTS, e);
    return rc ? rc : cov_track_init(&s->sink, &format, name, contigs, e);
}

void cov_spread_finish(struct cov_spread *s)
{
    s->sorted = cov_value_counts_sort(&s->counts);
    for (size_t i = 0; i < s->counts.n; i++)
        if (s->sorted[i].value == 0)
            s->n_zero += s->sorted[i].n;
}

/* Returns the value of the base that `rank` bases have less than or equal to. */
static double value_at(const struct cov_spread *s, uint64_t rank)
{
    size_t i = s->counts.n - 1;
    for (uint64_t n = s->sorted[i].n; n <= rank && i > 0; n += s->sorted[i].n)
        i--;
    return (double)s->sorted[i].value;
}

double cov_spread_quantile(const struct cov_spread *s, double q)
{
    if (s->counts.n == 0)
        return (double)NAN;
    const uint64_t last = s->sink.summary.n_bases - 1;
    const double at = q * (double)last;
    const uint64_t rank = (uint64_t)at < last ? (uint64_t)at : last;
    const double low = value_at(s, rank), high = value_at(s, rank < last ? rank + 1 : last);
    return low + (at - (double)rank) * (high - low);
}

static double step_of(double value, double step)
{
    const double x = value / step, near = nearbyint(x);
    return fabs(x - near) <= CLOSE * fabs(near) ? near : floor(x);
}

int cov_spread_steps(const struct cov_spread *s, double step, struct cov_spread_step **out,
                     size_t *n, struct cov_err *e)
{
    *n = 0;
    *out = cov_calloc(s->counts.n, sizeof **out, e);
    if (!*out)
        return COV_ENOMEM;
    for (size_t i = s->counts.n; i-- > 0;) {
        const double value = step_of((double)s->sorted[i].value, step) * step;
        if (*n == 0 || (*out)[*n - 1].value < value)
            (*out)[(*n)++] = (struct cov_spread_step){.value = value};
        (*out)[*n - 1].n += s->sorted[i].n;
    }
    return COV_OK;
}
