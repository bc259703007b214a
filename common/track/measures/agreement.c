/* agreement.c - see agreement.h.
 *
 * Ranks are computed with two sorts. After sorting by x, each group of equal x gets its mean rank,
 * and each pair becomes (y, rank of x). After sorting by y, each group of equal y gets its mean
 * rank, and the products are summed. Ranks are stored doubled, as integers: a group of t values
 * after c others has rank 2c + t + 1; the mean over N pairs is N + 1.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/agreement.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* ---------------------------------------------------------------- moments */

/* Returns Pearson's r, or NAN if it is undefined because there are fewer than two pairs, or because
 * all x or all y are equal. */
static double correlation(double xx, double yy, double xy)
{
    if (!(xx > 0) || !(yy > 0))
        return (double)NAN;
    double r = xy / sqrt(xx * yy);
    return r > 1 ? 1 : r < -1 ? -1 : r;
}

void cov_moments_add(struct cov_moments *m, double x, double y, double n)
{
    double dx = x - m->mean_x, dy = y - m->mean_y;
    m->n += n;
    double share = n / m->n;
    m->mean_x += dx * share;
    m->mean_y += dy * share;
    double weight = n * (1 - share);
    m->xx += weight * dx * dx;
    m->yy += weight * dy * dy;
    m->xy += weight * dx * dy;
}

void cov_moments_merge(struct cov_moments *m, const struct cov_moments *from)
{
    if (from->n > 0)
        cov_moments_add(m, from->mean_x, from->mean_y, from->n);
    m->xx += from->xx;
    m->yy += from->yy;
    m->xy += from->xy;
}

double cov_moments_pearson(const struct cov_moments *m)
{
    return correlation(m->xx, m->yy, m->xy);
}

/* ---------------------------------------------------------------- keys */

/* Maps floats to integers in the same order. */
static uint32_t ordered(float x)
{
    uint32_t bits;
    x += 0.0F; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000U;
}

static double value_of(uint32_t key)
{
    uint32_t bits = key >> 31 ? key & 0x7fffffffU : ~key;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

/* ---------------------------------------------------------------- sorting */

static int need_room(struct cov_pairs *p, size_t n, struct cov_err *e)
{
    if (p->cap_room >= n)
        return COV_OK;
    free(p->room);
    p->room = cov_malloc(n, sizeof *p->room, e);
    p->cap_room = p->room ? n : 0;
    return p->room ? COV_OK : COV_ENOMEM;
}

static void sort_few(struct cov_pair_count *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct cov_pair_count x = a[i];
        size_t k = i;
        for (; k > 0 && a[k - 1].key > x.key; k--)
            a[k] = a[k - 1];
        a[k] = x;
    }
}

/* Sorts the first n entries of the table by key, ascending and stable: a radix sort that skips bytes that
 * are equal in all keys. */
static int sort(struct cov_pairs *p, size_t n, struct cov_err *e)
{
    struct cov_pair_count *a = p->table;
    if (n < 48) {
        sort_few(a, n);
        return COV_OK;
    }
    size_t counts[8][256] = {{0}};
    int rc = need_room(p, n, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < 8; b++)
            counts[b][a[i].key >> (8 * b) & 255]++;
    struct cov_pair_count *from = a, *to = p->room;
    for (unsigned b = 0; b < 8; b++) {
        size_t *count = counts[b], at = 0;
        if (count[from[0].key >> (8 * b) & 255] == n)
            continue;
        for (size_t v = 0; v < 256; v++) {
            size_t m = count[v];
            count[v] = at;
            at += m;
        }
        for (size_t i = 0; i < n; i++)
            to[count[from[i].key >> (8 * b) & 255]++] = from[i];
        struct cov_pair_count *swap = from;
        from = to;
        to = swap;
    }
    if (from != a)
        memcpy(a, from, n * sizeof *a);
    return COV_OK;
}

/* ---------------------------------------------------------------- runs in files */

static int runs_init(struct cov_sorted_runs *r, const char *dir, struct cov_err *e)
{
    return cov_spool_init(&r->spool, dir, e);
}

static void runs_fini(struct cov_sorted_runs *r)
{
    if (r->spool.dir)
        cov_spool_fini(&r->spool);
    free(r->runs);
    *r = (struct cov_sorted_runs){.spool = COV_SPOOL_INIT};
}

static int runs_add(struct cov_sorted_runs *r, const struct cov_pair_count *a, size_t n,
                    struct cov_err *e)
{
    int rc = COV_RESERVE(&r->runs, &r->cap, r->n + 1, e);
    if (!rc)
        rc = cov_spool_append(&r->spool, a, n * sizeof *a, &r->runs[r->n].at, e);
    if (!rc)
        r->runs[r->n++].n = n;
    return rc;
}

static int runs_clear(struct cov_sorted_runs *r, struct cov_err *e)
{
    r->n = 0;
    return r->spool.n_bytes ? cov_spool_truncate(&r->spool, 0, e) : COV_OK;
}

/* ---------------------------------------------------------------- reading in order */

enum { MERGE_ENTRIES = 65536, FEWEST = 16 };

struct lane {
    struct cov_pair_count *buffer;
    size_t at, n; /* in the buffer */
    int64_t next; /* in the file */
    size_t left;  /* entries left in the file */
};

/* Reads pairs by key, ascending, from an array or by merging runs. */
struct cursor {
    const struct cov_pair_count *array;
    size_t at, n;
    const struct cov_sorted_runs *runs; /* NULL: the array */
    struct cov_pair_count *memory;
    struct lane *lanes;
    size_t *heap; /* lanes that are not at their end, as a heap with the lowest key first */
    size_t n_heap, room;
};

static uint64_t lane_key(const struct cursor *c, size_t lane)
{
    const struct lane *l = &c->lanes[lane];
    return l->buffer[l->at].key;
}

/* Returns true if lane `a` goes before lane b. For equal keys the earlier run goes first, so that
 * the order is always the same. */
static bool goes_first(const struct cursor *c, size_t a, size_t b)
{
    uint64_t x = lane_key(c, a), y = lane_key(c, b);
    return x < y || (x == y && a < b);
}

static void sift(struct cursor *c, size_t i)
{
    size_t lane = c->heap[i];
    for (size_t k; (k = 2 * i + 1) < c->n_heap; i = k) {
        if (k + 1 < c->n_heap && goes_first(c, c->heap[k + 1], c->heap[k]))
            k++;
        if (goes_first(c, lane, c->heap[k]))
            break;
        c->heap[i] = c->heap[k];
    }
    c->heap[i] = lane;
}

static int fill(const struct cursor *c, struct lane *l, struct cov_err *e)
{
    l->at = 0;
    l->n = l->left < c->room ? l->left : c->room;
    size_t bytes = l->n * sizeof *l->buffer;
    int rc = bytes ? cov_spool_read(&c->runs->spool, l->next, l->buffer, bytes, e) : COV_OK;
    l->next += (int64_t)bytes;
    l->left -= l->n;
    return rc;
}

static void cursor_fini(struct cursor *c)
{
    free(c->memory);
    free(c->lanes);
    free(c->heap);
}

static int cursor_init(struct cursor *c, const struct cov_sorted_runs *runs,
                       const struct cov_pair_count *array, size_t n, struct cov_err *e)
{
    *c = (struct cursor){.array = array, .n = n};
    if (runs->n == 0)
        return COV_OK;
    c->runs = runs;
    c->room = MERGE_ENTRIES / runs->n > FEWEST ? MERGE_ENTRIES / runs->n : FEWEST;
    size_t bytes;
    c->lanes = cov_calloc(runs->n, sizeof *c->lanes, e);
    c->heap = cov_calloc(runs->n, sizeof *c->heap, e);
    if (cov_size_mul(runs->n, c->room, &bytes))
        return cov_fail(e, COV_ENOMEM, "too many sorted runs (%zu)", runs->n);
    c->memory = cov_malloc(bytes, sizeof *c->memory, e);
    if (!c->lanes || !c->heap || !c->memory)
        return COV_ENOMEM;
    for (size_t i = 0; i < runs->n; i++) {
        c->lanes[i] = (struct lane){
            .buffer = c->memory + i * c->room, .next = runs->runs[i].at, .left = runs->runs[i].n};
        int rc = fill(c, &c->lanes[i], e);
        if (rc)
            return rc;
        c->heap[c->n_heap++] = i; /* no run is empty */
    }
    for (size_t i = c->n_heap; i-- > 0;)
        sift(c, i);
    return COV_OK;
}

/* Reads the next pair. Returns 1, or 0 at the end, or a failure. */
static int next(struct cursor *c, struct cov_pair_count *out, struct cov_err *e)
{
    if (!c->runs) {
        if (c->at == c->n)
            return 0;
        *out = c->array[c->at++];
        return 1;
    }
    if (c->n_heap == 0)
        return 0;
    struct lane *l = &c->lanes[c->heap[0]];
    *out = l->buffer[l->at++];
    if (l->at == l->n) {
        int rc = fill(c, l, e);
        if (rc)
            return rc;
        if (l->n == 0)
            c->heap[0] = c->heap[--c->n_heap];
    }
    if (c->n_heap > 0)
        sift(c, 0);
    return 1;
}

/* ---------------------------------------------------------------- counting */

enum { FIRST_SLOTS = 256, LEAST_BYTES = 65536 };

int cov_pairs_init(struct cov_pairs *p, size_t max_bytes, const char *dir, struct cov_err *e)
{
    *p = (struct cov_pairs){.n = 0};
    p->runs.spool = p->ranks.spool = (struct cov_spool)COV_SPOOL_INIT;
    p->max_slots = LEAST_BYTES / sizeof *p->table;
    while (p->max_slots * 2 <= max_bytes / sizeof *p->table)
        p->max_slots *= 2;
    p->n_slots = p->cap = FIRST_SLOTS;
    p->table = cov_calloc(p->cap, sizeof *p->table, e);
    int rc = p->table ? runs_init(&p->runs, dir, e) : COV_ENOMEM;
    return rc ? rc : runs_init(&p->ranks, dir, e);
}

void cov_pairs_fini(struct cov_pairs *p)
{
    free(p->table);
    free(p->room);
    runs_fini(&p->runs);
    runs_fini(&p->ranks);
    p->table = p->room = NULL;
}

static size_t place_of(const struct cov_pairs *p, uint64_t key)
{
    uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(h >> 32) & (p->n_slots - 1);
}

static struct cov_pair_count *find(const struct cov_pairs *p, uint64_t key)
{
    size_t i = place_of(p, key);
    while (p->table[i].n && p->table[i].key != key)
        i = (i + 1) & (p->n_slots - 1);
    return &p->table[i];
}

/* Moves the entries to the beginning of the table. */
static void compact(struct cov_pairs *p)
{
    size_t n = 0;
    for (size_t i = 0; n < p->used; i++)
        if (p->table[i].n)
            p->table[n++] = p->table[i];
}

static void clear_slots(struct cov_pairs *p, size_t n_slots)
{
    memset(p->table, 0, n_slots * sizeof *p->table);
    p->n_slots = n_slots;
    p->used = 0;
}

/* Doubles the number of slots. */
static int grow(struct cov_pairs *p, struct cov_err *e)
{
    size_t n = p->used, twice = p->n_slots * 2;
    int rc = need_room(p, n, e);
    if (rc)
        return rc;
    compact(p);
    memcpy(p->room, p->table, n * sizeof *p->table);
    if (twice > p->cap) {
        free(p->table);
        p->table = cov_malloc(twice, sizeof *p->table, e);
        if (!p->table)
            return COV_ENOMEM;
        p->cap = twice;
    }
    clear_slots(p, twice);
    for (size_t i = 0; i < n; i++)
        *find(p, p->room[i].key) = p->room[i];
    p->used = n;
    return COV_OK;
}

static int spill(struct cov_pairs *p, struct cov_err *e)
{
    compact(p);
    int rc = sort(p, p->used, e);
    if (!rc && p->used)
        rc = runs_add(&p->runs, p->table, p->used, e);
    clear_slots(p, p->n_slots);
    return rc;
}

static int add_key(struct cov_pairs *p, uint64_t key, uint64_t n, struct cov_err *e)
{
    struct cov_pair_count *slot = find(p, key);
    p->n += n;
    slot->n += n;
    if (slot->n > n || n == 0)
        return COV_OK;
    slot->key = key;
    if (++p->used < p->n_slots / 4 * 3)
        return COV_OK;
    return p->n_slots < p->max_slots ? grow(p, e) : spill(p, e);
}

int cov_pairs_add(struct cov_pairs *p, float x, float y, uint64_t n, struct cov_err *e)
{
    return add_key(p, (uint64_t)ordered(x) << 32 | ordered(y), n, e);
}

/* ---------------------------------------------------------------- ranks */

/* Returns an entry of the second sort. Its key is y, followed by the low half of the count. Its n
 * is the doubled rank of x, with the high half of the count above it. */
static struct cov_pair_count with_rank(struct cov_pair_count pair, uint64_t rank)
{
    return (struct cov_pair_count){pair.key << 32 | (uint32_t)pair.n, rank | pair.n >> 32 << 44};
}

static uint64_t count_of(const struct cov_pair_count *r)
{
    return (r->n >> 44 << 32) | (uint32_t)r->key;
}

static uint64_t rank_of(const struct cov_pair_count *r)
{
    return r->n & ((UINT64_C(1) << 44) - 1);
}

struct sums {
    uint64_t mean; /* mean of the doubled ranks */
    double xx, yy, xy;
};

static double from_mean(const struct sums *s, uint64_t rank)
{
    return (double)((int64_t)rank - (int64_t)s->mean);
}

/* Reads sorted pairs in groups whose keys have equal upper halves. */
struct groups {
    struct cursor *c;
    struct cov_pair_count head; /* the first of the next group */
    int more;                   /* whether there is one */
    uint64_t before;            /* pairs in the groups before */
};

static int groups_begin(struct groups *g, struct cursor *c, struct cov_err *e)
{
    *g = (struct groups){.c = c};
    g->more = next(c, &g->head, e);
    return g->more < 0 ? g->more : COV_OK;
}

/* Reads the next group of equal x and sets *t to its number of pairs. Adds the pairs to *m and
 * `total`. */
static int count_group(struct groups *g, struct cov_moments *m, struct cov_pairs *total,
                       uint64_t *t, struct cov_err *e)
{
    uint32_t x = (uint32_t)(g->head.key >> 32);
    double value = value_of(x);
    *t = 0;
    while (g->more > 0 && g->head.key >> 32 == x) {
        *t += g->head.n;
        cov_moments_add(m, value, value_of((uint32_t)g->head.key), (double)g->head.n);
        int rc = total ? add_key(total, g->head.key, g->head.n, e) : COV_OK;
        if (rc)
            return rc;
        g->more = next(g->c, &g->head, e);
    }
    return g->more < 0 ? g->more : COV_OK;
}

/* Appends a ranked pair to the front part of the table; a full table becomes a sorted run. */
static int add_ranked(struct cov_pairs *p, size_t *n, struct cov_pair_count pair, struct cov_err *e)
{
    p->table[(*n)++] = pair;
    if (p->runs.n == 0 || *n < p->n_slots / 4 * 3)
        return COV_OK;
    int rc = sort(p, *n, e);
    if (!rc)
        rc = runs_add(&p->ranks, p->table, *n, e);
    *n = 0;
    return rc;
}

/* First sort: replaces the pairs, in the sorted table or in runs, by ranked pairs. *n of the ranked
 * pairs are in the table, the others in runs. */
static int rank_x(struct cov_pairs *p, struct cov_pairs *total, struct sums *s,
                  struct cov_moments *m, size_t *n, struct cov_err *e)
{
    struct cursor ahead, behind = {0};
    struct groups g;
    int rc = cursor_init(&ahead, &p->runs, p->table, p->used, e);
    if (!rc)
        rc = cursor_init(&behind, &p->runs, p->table, p->used, e);
    if (!rc)
        rc = groups_begin(&g, &ahead, e);
    *n = 0;
    while (!rc && g.more > 0) {
        uint64_t t, got = 0;
        rc = count_group(&g, m, total, &t, e);
        uint64_t rank = 2 * g.before + t + 1;
        double d = from_mean(s, rank);
        s->xx += (double)t * d * d;
        g.before += t;
        while (!rc && got < t) {
            struct cov_pair_count pair;
            int more = next(&behind, &pair, e);
            if (more < 0) {
                rc = more;
                break;
            }
            got += pair.n;
            /* Writes only to positions that both cursors have already read. */
            rc = add_ranked(p, n, with_rank(pair, rank), e);
        }
    }
    cursor_fini(&ahead);
    cursor_fini(&behind);
    return rc;
}

/* Second sort. */
static int rank_y(struct cov_pairs *p, size_t n, struct sums *s, struct cov_err *e)
{
    struct cursor c;
    struct groups g;
    int rc = sort(p, n, e);
    if (!rc && p->ranks.n && n)
        rc = runs_add(&p->ranks, p->table, n, e);
    if (rc)
        return rc;
    rc = cursor_init(&c, &p->ranks, p->table, n, e);
    if (!rc)
        rc = groups_begin(&g, &c, e);
    while (!rc && g.more > 0) {
        uint32_t y = (uint32_t)(g.head.key >> 32);
        uint64_t t = 0;
        double sum = 0;
        while (g.more > 0 && g.head.key >> 32 == y) {
            t += count_of(&g.head);
            sum += (double)count_of(&g.head) * from_mean(s, rank_of(&g.head));
            g.more = next(&c, &g.head, e);
        }
        double d = from_mean(s, 2 * g.before + t + 1);
        s->yy += (double)t * d * d;
        s->xy += sum * d;
        g.before += t;
        rc = g.more < 0 ? g.more : COV_OK;
    }
    cursor_fini(&c);
    return rc;
}

int cov_pairs_finish(struct cov_pairs *p, struct cov_pairs *total, struct cov_agreement *out,
                     struct cov_err *e)
{
    struct sums s = {.mean = p->n + 1};
    struct cov_moments m = {0};
    size_t n = 0;
    int rc;
    *out = (struct cov_agreement){.n = p->n};
    if (p->runs.n > 0) {
        rc = spill(p, e);
    } else {
        compact(p);
        rc = sort(p, p->used, e);
    }
    if (!rc)
        rc = rank_x(p, total, &s, &m, &n, e);
    if (!rc)
        rc = rank_y(p, n, &s, e);
    if (!rc)
        rc = runs_clear(&p->runs, e);
    if (!rc)
        rc = runs_clear(&p->ranks, e);
    out->pearson = cov_moments_pearson(&m);
    out->spearman = correlation(s.xx, s.yy, s.xy);
    clear_slots(p, FIRST_SLOTS);
    p->n = 0;
    return rc;
}
