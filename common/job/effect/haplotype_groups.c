/* haplotype_groups.c - see haplotype_groups.h.
 *
 * A group has the list of its calls. When a record splits a group, those of its haplotypes that come
 * first keep its number and its list. The others get a new number, the largest, and a copy of the list.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/haplotype_groups.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

struct cov_call_group {
    struct cov_group_call *calls; /* those of records that were dropped may still be there */
    size_t n, cap;
    /* Of the record that is added: the group of which this one was a part, and what it has. */
    uint32_t parent;
    bool is_used;
    struct cov_call call;
};

int cov_haplotype_groups_new(size_t n_samples, size_t most, struct cov_haplotype_groups **out,
                             struct cov_err *e)
{
    struct cov_haplotype_groups *g = *out = cov_calloc(1, sizeof *g, e);
    if (!g)
        return COV_ENOMEM;
    g->n_samples = n_samples;
    g->most = most;
    return COV_OK;
}

void cov_haplotype_groups_free(struct cov_haplotype_groups *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n; i++)
        free(g->groups[i].calls);
    free(g->groups);
    free(g->group_of);
    free(g->calls);
    free(g->slots);
    free(g);
}

/* ---------------------------------------------------------------- memory */

static size_t bytes_of(const struct cov_haplotype_groups *g)
{
    return g->n_items * (sizeof *g->calls + sizeof *g->group_of) + g->n * sizeof *g->groups +
           g->n_cap_calls * sizeof(struct cov_group_call);
}

static int fail_large(size_t most, struct cov_err *e)
{
    enum { MB_SHIFT = 20 };
    return cov_fail(e, COV_EINPUT,
                    "the genotypes of the records in a window need more than %zu MiB; use fewer "
                    "--samples or a smaller --window",
                    most >> MB_SHIFT);
}

/* Replaces an array by a longer one, of which the new part is zero. */
static int lengthen(void *array, size_t n_old, size_t n, size_t size, struct cov_err *e)
{
    void *old, *new = cov_calloc(n, size, e);
    if (!new)
        return COV_ENOMEM;
    memcpy(&old, array, sizeof old);
    if (n_old > 0)
        memcpy(new, old, n_old * size);
    free(old);
    memcpy(array, &new, sizeof new);
    return COV_OK;
}

static int reserve_calls(struct cov_haplotype_groups *g, struct cov_call_group *to, size_t n,
                         struct cov_err *e)
{
    const size_t cap = to->cap;
    int rc = COV_RESERVE(&to->calls, &to->cap, n, e);
    if (!rc)
        g->n_cap_calls += to->cap - cap;
    return !rc && bytes_of(g) > g->most ? fail_large(g->most, e) : rc;
}

/* Empties the hash table, which gets room for n groups. */
static int clear_slots(struct cov_haplotype_groups *g, size_t n, struct cov_err *e)
{
    size_t n_slots = g->n_slots ? g->n_slots : 16;
    while (n_slots < 2 * n)
        n_slots *= 2;
    if (n_slots > g->n_slots) {
        free(g->slots);
        g->n_slots = 0;
        g->slots = cov_malloc(n_slots, sizeof *g->slots, e);
        if (!g->slots)
            return COV_ENOMEM;
        g->n_slots = n_slots;
    }
    memset(g->slots, 0, g->n_slots * sizeof *g->slots);
    return COV_OK;
}

static uint64_t mix_hash(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t mix_call(uint64_t hash, const struct cov_call *c)
{
    return mix_hash(mix_hash(hash, (uint64_t)(uint32_t)c->set << 1 ^ c->equal),
                    (uint32_t)c->allele);
}

static bool same(const struct cov_call *a, const struct cov_call *b)
{
    return a->allele == b->allele && a->set == b->set && a->equal == b->equal;
}

/* ---------------------------------------------------------------- adding */

static uint32_t *slot_with(const struct cov_haplotype_groups *g, uint32_t parent,
                           const struct cov_call *call)
{
    size_t i = (size_t)mix_call(parent, call) & (g->n_slots - 1);
    for (; g->slots[i]; i = (i + 1) & (g->n_slots - 1)) {
        const struct cov_call_group *found = &g->groups[g->slots[i] - 1];
        if (found->parent == parent && same(&found->call, call))
            break;
    }
    return &g->slots[i];
}

/* Sets *group, of a haplotype, to the group of those of it that have this call. */
static int split_group(struct cov_haplotype_groups *g, uint32_t *group, const struct cov_call *call,
                       struct cov_err *e)
{
    uint32_t *slot = slot_with(g, *group, call);
    if (*slot) {
        *group = *slot - 1;
        return COV_OK;
    }
    size_t new = *group;
    if (g->groups[*group].is_used) {
        int rc = COV_RESERVE(&g->groups, &g->cap, g->n + 1, e);
        if (rc)
            return rc;
        new = g->n++;
        g->groups[new] = (struct cov_call_group){.n = 0};
    }
    struct cov_call_group *to = &g->groups[new];
    to->parent = *group;
    to->call = *call;
    to->is_used = true;
    *slot = (uint32_t) new + 1;
    *group = (uint32_t) new;
    if (2 * g->n <= g->n_slots)
        return COV_OK;
    int rc = clear_slots(g, 2 * g->n, e);
    for (size_t i = 0; !rc && i < g->n; i++)
        if (g->groups[i].is_used)
            *slot_with(g, g->groups[i].parent, &g->groups[i].call) = (uint32_t)i + 1;
    return rc;
}

/* Gives a new group the calls of the one that it was a part of. */
static int copy_list(struct cov_haplotype_groups *g, uint32_t group, struct cov_err *e)
{
    struct cov_call_group *to = &g->groups[group];
    size_t n;
    const struct cov_group_call *calls = cov_haplotype_groups_list(g, to->parent, &n);
    int rc = reserve_calls(g, to, n, e);
    if (!rc && n > 0)
        memcpy(to->calls, calls, n * sizeof *calls);
    to->n = rc ? 0 : n;
    return rc;
}

int cov_haplotype_groups_add(struct cov_haplotype_groups *g, struct cov_err *e)
{
    const size_t n_old = g->n;
    int rc = clear_slots(g, g->n, e);
    for (size_t i = 0; i < g->n; i++)
        g->groups[i].is_used = false;
    for (size_t i = 0; !rc && i < g->n_items; i++)
        rc = split_group(g, &g->group_of[i], &g->calls[i], e);
    for (size_t i = n_old; !rc && i < g->n; i++)
        rc = copy_list(g, (uint32_t)i, e);
    for (size_t i = 0; !rc && i < g->n; i++) {
        struct cov_call_group *to = &g->groups[i];
        if (to->call.allele <= 0)
            continue;
        rc = reserve_calls(g, to, to->n + 1, e);
        if (!rc)
            to->calls[to->n++] = (struct cov_group_call){g->end, to->call};
    }
    g->end++;
    return rc;
}

int cov_haplotype_groups_calls(struct cov_haplotype_groups *g, size_t n_copies,
                               struct cov_call **calls, struct cov_err *e)
{
    const size_t n = g->n_items;
    if (n_copies > g->n_copies) {
        size_t n_items, bytes;
        if (cov_size_mul(n_copies, g->n_samples, &n_items) || n_items >= UINT32_MAX ||
            cov_size_mul(n_items, sizeof **calls, &bytes) || bytes > g->most)
            return fail_large(g->most, e);
        int rc = lengthen(&g->calls, n, n_items, sizeof *g->calls, e);
        if (!rc)
            rc = lengthen(&g->group_of, n, n_items, sizeof *g->group_of, e);
        if (!rc && n_items > n)
            rc = COV_RESERVE(&g->groups, &g->cap, g->n + 1, e);
        if (rc)
            return rc;
        for (size_t i = n; i < n_items; i++)
            g->group_of[i] = (uint32_t)g->n;
        if (n_items > n)
            g->groups[g->n++] = (struct cov_call_group){.n = 0};
        g->n_copies = n_copies;
        g->n_items = n_items;
    }
    if (g->calls)
        memset(g->calls, 0, g->n_items * sizeof *g->calls);
    *calls = g->calls;
    return COV_OK;
}

/* ---------------------------------------------------------------- dropping */

/* Deletes calls of records that were dropped, and numbers the others from 0. */
static void trim(struct cov_haplotype_groups *g, struct cov_call_group *of, uint32_t group)
{
    size_t n;
    const struct cov_group_call *kept = cov_haplotype_groups_list(g, group, &n);
    if (n > 0)
        memmove(of->calls, kept, n * sizeof *kept);
    of->n = n;
    for (size_t i = 0; i < n; i++)
        of->calls[i].record -= g->first;
    if (n > of->cap / 2)
        return;
    struct cov_group_call *less = n > 0 ? cov_realloc(of->calls, n, sizeof *less, NULL) : NULL;
    if (n == 0)
        free(of->calls);
    else if (!less)
        return;
    g->n_cap_calls -= of->cap - n;
    of->calls = less;
    of->cap = n;
}

static bool same_lists(const struct cov_call_group *a, const struct cov_call_group *b)
{
    bool equal = a->n == b->n;
    for (size_t i = 0; equal && i < a->n; i++)
        equal =
            a->calls[i].record == b->calls[i].record && same(&a->calls[i].call, &b->calls[i].call);
    return equal;
}

/* Merges groups that are the same in all records. */
static int merge(struct cov_haplotype_groups *g, struct cov_err *e)
{
    size_t n = 0;
    uint32_t *new_of = cov_malloc(g->n, sizeof *new_of, e);
    int rc = new_of ? clear_slots(g, g->n, e) : COV_ENOMEM;
    for (size_t k = 0; !rc && k < g->n; k++) {
        struct cov_call_group *of = &g->groups[k];
        uint64_t hash = 0;
        trim(g, of, (uint32_t)k);
        for (size_t i = 0; i < of->n; i++)
            hash = mix_call(mix_hash(hash, of->calls[i].record), &of->calls[i].call);
        size_t i = (size_t)hash & (g->n_slots - 1);
        while (g->slots[i] && !same_lists(&g->groups[g->slots[i] - 1], of))
            i = (i + 1) & (g->n_slots - 1);
        if (!g->slots[i]) {
            g->groups[n] = *of;
            g->slots[i] = (uint32_t)++n;
        } else {
            g->n_cap_calls -= of->cap;
            free(of->calls);
        }
        new_of[k] = g->slots[i] - 1;
    }
    for (size_t i = 0; !rc && i < g->n_items; i++)
        g->group_of[i] = new_of[g->group_of[i]];
    free(new_of);
    if (!rc) {
        g->n = n;
        g->end -= g->first;
        g->first = 0;
    }
    return rc;
}

int cov_haplotype_groups_drop(struct cov_haplotype_groups *g, size_t n, struct cov_err *e)
{
    /* More bytes than that after merging would make it necessary again and again. */
    const size_t many = g->most - g->most / 4;
    g->first += (uint32_t)n;
    if (g->first <= g->end - g->first && (g->first == 0 || bytes_of(g) <= many))
        return COV_OK;
    int rc = merge(g, e);
    return !rc && bytes_of(g) > many ? fail_large(many, e) : rc;
}

/* ---------------------------------------------------------------- reading */

/* Returns the place of the first call of a group in a record >= `record`. */
static size_t lower_bound(const struct cov_call_group *of, uint32_t record)
{
    size_t low = 0, high = of->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (of->calls[mid].record < record)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct cov_group_call *cov_haplotype_groups_list(const struct cov_haplotype_groups *g,
                                                       uint32_t group, size_t *n)
{
    const struct cov_call_group *of = &g->groups[group];
    const size_t from = lower_bound(of, g->first);
    *n = of->n - from;
    return *n > 0 ? of->calls + from : NULL;
}

const struct cov_call *cov_haplotype_groups_find(const struct cov_haplotype_groups *g,
                                                 uint32_t group, uint32_t record)
{
    const struct cov_call_group *of = &g->groups[group];
    const size_t at = lower_bound(of, record);
    return at < of->n && of->calls[at].record == record ? &of->calls[at].call : NULL;
}
