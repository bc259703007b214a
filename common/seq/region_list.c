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
