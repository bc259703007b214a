/* region_list.c - see region_list.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/region_list.h"

#include <stdlib.h>

#include "common/base/mem.h"

void cov_region_list_fini(struct cov_region_list *l)
{
    free(l->items);
    *l = (struct cov_region_list){NULL, 0, 0};
}

static int by_place(const void *a, const void *b)
{
    const struct cov_region *x = a, *y = b;
    if (x->contig != y->contig)
        return x->contig < y->contig ? -1 : 1;
    return (x->beg > y->beg) - (x->beg < y->beg);
}

void cov_region_list_merge(struct cov_region_list *l)
{
    size_t n = 0;
    if (l->n > 0)
        qsort(l->items, l->n, sizeof *l->items, by_place);
    for (size_t i = 0; i < l->n; i++) {
        struct cov_region *last = n ? &l->items[n - 1] : NULL, *x = &l->items[i];
        if (!last || last->contig != x->contig || x->beg > last->end)
            l->items[n++] = *x;
        else if (x->end > last->end)
            last->end = x->end;
    }
    l->n = n;
}

int cov_region_list_add(struct cov_region_list *l, struct cov_region region, struct cov_err *e)
{
    enum { FEW = 4096 };
    int rc = COV_OK;
    if (l->n == l->cap) {
        if (l->n >= FEW)
            cov_region_list_merge(l);
        if (l->n >= l->cap / 2) /* merging did not free much */
            rc = COV_RESERVE(&l->items, &l->cap, l->cap + 1, e);
    }
    if (!rc)
        l->items[l->n++] = region;
    return rc;
}

int cov_region_list_subtract(struct cov_region_list *out, struct cov_region_span from,
                             struct cov_region_span drop, struct cov_err *e)
{
    int rc = COV_OK;
    out->n = 0;
    for (size_t i = 0, k = 0; !rc && i < from.n; i++) {
        struct cov_region part = from.items[i];
        while (k < drop.n && drop.items[k].end <= part.beg)
            k++;
        for (; !rc && k < drop.n && drop.items[k].beg < part.end; k++) {
            const struct cov_region before = {part.contig, part.beg, drop.items[k].beg};
            if (before.end > before.beg)
                rc = cov_region_list_add(out, before, e);
            part.beg = drop.items[k].end;
            if (part.beg >= part.end)
                break; /* it may reach into the next region */
        }
        if (!rc && part.beg < part.end)
            rc = cov_region_list_add(out, part, e);
    }
    return rc;
}

bool cov_region_list_overlaps(const struct cov_region_list *l, int64_t beg, int64_t end)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (l->items[middle].end <= beg)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->n && l->items[low].beg < end;
}

int64_t cov_region_list_bases(const struct cov_region_list *l)
{
    int64_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += l->items[i].end - l->items[i].beg;
    return n;
}
