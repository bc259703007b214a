/* haplotype_groups.c - see haplotype_groups.h.
 *
 * A record is a list of the groups that have an allele of ALT. When a record splits a group, those of its
 * haplotypes that come first keep its number. The others get a new one, the largest, which is appended to
 * the list of each earlier record that has the old group.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/haplotype_groups.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

struct record {
    struct cov_group_call *calls;
    size_t n, cap;
};

/* Groups of items: of haplotypes or, to merge them, of groups. */
struct partition {
    uint32_t *group_of; /* [n_items] */
    size_t n_items, n;
    struct record *records;
    size_t n_records, cap_records;
    /* Of the record that is added: the group of which a group was a part, what it has, and a hash table of
     * group numbers, from 1. */
    uint32_t *parent;
    struct cov_call *calls;
    bool *is_used;
    uint32_t *slots;
    size_t n_slots; /* a power of two */
};

struct cov_haplotype_groups {
    struct partition p;
    size_t n_samples, n_copies, n_dropped;
    struct cov_call *calls; /* [n_copies][n_samples] */
};

static void release(struct partition *p)
{
    for (size_t i = 0; i < p->n_records; i++)
        free(p->records[i].calls);
    free(p->records);
    free(p->group_of);
    free(p->parent);
    free(p->calls);
    free(p->is_used);
    free(p->slots);
    *p = (struct partition){0};
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

/* Adds items, which are in a group of their own. */
static int add_items(struct partition *p, size_t n_items, struct cov_err *e)
{
    const size_t n = p->n_items;
    size_t n_slots = p->n_slots ? p->n_slots : 16;
    while (n_slots < 2 * n_items)
        n_slots *= 2;
    int rc = lengthen(&p->group_of, n, n_items, sizeof *p->group_of, e);
    if (!rc)
        rc = lengthen(&p->parent, n, n_items, sizeof *p->parent, e);
    if (!rc)
        rc = lengthen(&p->calls, n, n_items, sizeof *p->calls, e);
    if (!rc)
        rc = lengthen(&p->is_used, n, n_items, sizeof *p->is_used, e);
    if (!rc)
        rc = lengthen(&p->slots, 0, n_slots, sizeof *p->slots, e);
    if (rc)
        return rc;
    for (size_t i = n; i < n_items; i++)
        p->group_of[i] = (uint32_t)p->n;
    p->n++;
    p->n_items = n_items;
    p->n_slots = n_slots;
    return COV_OK;
}

static bool same(const struct cov_call *a, const struct cov_call *b)
{
    return a->allele == b->allele && a->set == b->set && a->equal == b->equal;
}

/* Returns the group of the items of `group` that have this call. */
static uint32_t group_with(struct partition *p, uint32_t group, const struct cov_call *call)
{
    uint64_t hash = (uint64_t)group << 32 ^ (uint64_t)(uint32_t)call->set << 9 ^
                    (uint64_t)(uint32_t)call->allele << 1 ^ call->equal;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 32) & (p->n_slots - 1);
    for (; p->slots[i]; i = (i + 1) & (p->n_slots - 1)) {
        const uint32_t found = p->slots[i] - 1;
        if (p->parent[found] == group && same(&p->calls[found], call))
            return found;
    }
    const uint32_t new = p->is_used[group] ? (uint32_t)p->n++ : group;
    p->is_used[group] = true;
    p->parent[new] = group;
    p->calls[new] = *call;
    p->slots[i] = new + 1;
    return new;
}

static int append_call(struct record *to, uint32_t group, const struct cov_call *call,
                       struct cov_err *e)
{
    int rc = COV_RESERVE(&to->calls, &to->cap, to->n + 1, e);
    if (!rc)
        to->calls[to->n++] = (struct cov_group_call){group, *call};
    return rc;
}

static int compare_groups(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = ((const struct cov_group_call *)b)->group;
    return (x > y) - (x < y);
}

static const struct cov_call *find(const struct record *r, uint32_t group)
{
    const struct cov_group_call *found =
        r->n ? bsearch(&group, r->calls, r->n, sizeof *r->calls, compare_groups) : NULL;
    return found ? &found->call : NULL;
}

/* Appends a record with the calls of the items. */
static int add_record(struct partition *p, const struct cov_call *calls, struct cov_err *e)
{
    const size_t n_old = p->n;
    int rc = COV_RESERVE(&p->records, &p->cap_records, p->n_records + 1, e);
    if (rc)
        return rc;
    if (p->n_items > 0) {
        memset(p->slots, 0, p->n_slots * sizeof *p->slots);
        memset(p->is_used, 0, p->n_items * sizeof *p->is_used);
    }
    for (size_t i = 0; i < p->n_items; i++)
        p->group_of[i] = group_with(p, p->group_of[i], &calls[i]);
    for (size_t k = 0; k < p->n_records; k++)
        for (size_t i = n_old; !rc && i < p->n; i++) {
            const struct cov_call *call = find(&p->records[k], p->parent[i]);
            const struct cov_call copy = call ? *call : (struct cov_call){0};
            if (call)
                rc = append_call(&p->records[k], (uint32_t)i, &copy, e);
        }
    struct record *new = &p->records[p->n_records++];
    *new = (struct record){0};
    for (size_t i = 0; !rc && i < p->n; i++)
        if (p->calls[i].allele > 0)
            rc = append_call(new, (uint32_t)i, &p->calls[i], e);
    return rc;
}

/* ---------------------------------------------------------------- haplotypes */

int cov_haplotype_groups_new(size_t n_samples, struct cov_haplotype_groups **out, struct cov_err *e)
{
    struct cov_haplotype_groups *g = *out = cov_calloc(1, sizeof *g, e);
    if (!g)
        return COV_ENOMEM;
    g->n_samples = n_samples;
    return COV_OK;
}

void cov_haplotype_groups_free(struct cov_haplotype_groups *g)
{
    if (!g)
        return;
    release(&g->p);
    free(g->calls);
    free(g);
}

struct cov_call *cov_haplotype_groups_calls(struct cov_haplotype_groups *g, size_t n_copies,
                                            struct cov_err *e)
{
    if (n_copies > g->n_copies) {
        const size_t n = g->n_copies * g->n_samples;
        size_t n_items;
        if (cov_size_mul(n_copies, g->n_samples, &n_items) || n_items >= UINT32_MAX) {
            (void)cov_fail(e, COV_ENOMEM, "too many haplotypes");
            return NULL;
        }
        if (lengthen(&g->calls, n, n_items, sizeof *g->calls, e) || add_items(&g->p, n_items, e))
            return NULL;
        g->n_copies = n_copies;
    }
    if (g->calls)
        memset(g->calls, 0, g->n_copies * g->n_samples * sizeof *g->calls);
    return g->calls;
}

int cov_haplotype_groups_add(struct cov_haplotype_groups *g, struct cov_err *e)
{
    return add_record(&g->p, g->calls, e);
}

/* Merges groups that are the same in all records: groups them as haplotypes were. */
static int merge(struct cov_haplotype_groups *g, struct cov_err *e)
{
    struct partition *p = &g->p, new = {0};
    struct cov_call *calls = cov_calloc(p->n, sizeof *calls, e);
    int rc = calls ? add_items(&new, p->n, e) : COV_ENOMEM;
    for (size_t k = 0; !rc && k < p->n_records; k++) {
        const struct record *r = &p->records[k];
        memset(calls, 0, p->n * sizeof *calls);
        for (size_t i = 0; i < r->n; i++)
            calls[r->calls[i].group] = r->calls[i].call;
        rc = add_record(&new, calls, e);
    }
    free(calls);
    if (!rc) {
        struct record *records = p->records;
        for (size_t i = 0; i < p->n_items; i++)
            p->group_of[i] = new.group_of[p->group_of[i]];
        p->n = new.n;
        p->records = new.records;
        p->cap_records = new.cap_records;
        new.records = records;
    }
    release(&new);
    return rc;
}

int cov_haplotype_groups_drop(struct cov_haplotype_groups *g, size_t n, struct cov_err *e)
{
    struct partition *p = &g->p;
    for (size_t i = 0; i < n; i++)
        free(p->records[i].calls);
    p->n_records -= n;
    if (n > 0)
        memmove(p->records, p->records + n, p->n_records * sizeof *p->records);
    g->n_dropped += n;
    if (p->n < 2 || g->n_dropped <= p->n_records)
        return COV_OK;
    g->n_dropped = 0;
    return merge(g, e);
}

size_t cov_haplotype_groups_n(const struct cov_haplotype_groups *g)
{
    return g->p.n;
}

size_t cov_haplotype_groups_n_copies(const struct cov_haplotype_groups *g)
{
    return g->n_copies;
}

uint32_t cov_haplotype_groups_of(const struct cov_haplotype_groups *g, size_t sample, size_t copy)
{
    return g->p.group_of[copy * g->n_samples + sample];
}

const struct cov_group_call *cov_haplotype_groups_record(const struct cov_haplotype_groups *g,
                                                         size_t record, size_t *n)
{
    *n = g->p.records[record].n;
    return g->p.records[record].calls;
}

const struct cov_call *cov_haplotype_groups_find(const struct cov_haplotype_groups *g,
                                                 size_t record, uint32_t group)
{
    return find(&g->p.records[record], group);
}
