/* nearest.c - see nearest.h.
 *
 * Features are sorted by start. With the largest end up to each of them, two binary searches find the
 * first one that reaches past a place, and the first one that begins after it.
 * SPDX-License-Identifier: MIT */
#include "common/features/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

struct cov_nearest {
    struct cov_arena memory;
    const struct cov_annotation *a;
    int64_t *reach; /* [n]: the largest end on the contig up to this feature */
    size_t *first;  /* [contigs + 1]: where the features of a contig begin */
};

int cov_nearest_new(const struct cov_annotation *a, struct cov_nearest **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_nearest *n = cov_calloc(1, sizeof *n, e);
    if (!n)
        return COV_ENOMEM;
    const size_t n_contigs = cov_names_count(a->contigs);
    n->a = a;
    n->reach = cov_arena_calloc(&n->memory, a->n, sizeof *n->reach);
    n->first = cov_arena_calloc(&n->memory, n_contigs + 1, sizeof *n->first);
    int rc = cov_arena_check(&n->memory, e);
    if (rc) {
        cov_nearest_free(n);
        return rc;
    }
    for (size_t i = 0; i < a->n; i++) {
        const struct cov_feature *f = &a->items[i];
        const bool same = i > 0 && f->contig == a->items[i - 1].contig;
        n->reach[i] = same && n->reach[i - 1] > f->end ? n->reach[i - 1] : f->end;
        n->first[f->contig + 1] = i + 1;
    }
    for (size_t i = 1; i <= n_contigs; i++)
        n->first[i] = n->first[i] > n->first[i - 1] ? n->first[i] : n->first[i - 1];
    *out = n;
    return COV_OK;
}

void cov_nearest_free(struct cov_nearest *n)
{
    if (!n)
        return;
    cov_arena_fini(&n->memory);
    free(n);
}

/* Returns the first feature of [i, end) that begins at `pos` or later; `end` if there is none. */
static size_t find_start(const struct cov_nearest *n, size_t i, size_t end, int64_t pos)
{
    while (i < end) {
        const size_t mid = i + (end - i) / 2;
        if (n->a->items[mid].beg < pos)
            i = mid + 1;
        else
            end = mid;
    }
    return i;
}

/* The same for features that end at `pos` or later. */
static size_t find_end(const struct cov_nearest *n, size_t i, size_t end, int64_t pos)
{
    while (i < end) {
        const size_t mid = i + (end - i) / 2;
        if (n->reach[mid] < pos)
            i = mid + 1;
        else
            end = mid;
    }
    return i;
}

bool cov_nearest_find(const struct cov_nearest *n, const char *contig, int64_t beg, int64_t end,
                      size_t *feature, int64_t *distance)
{
    size_t number;
    if (!cov_names_find(n->a->contigs, contig, strlen(contig), &number))
        return false;
    const size_t first = n->first[number], last = n->first[number + 1];
    const size_t next =
        find_start(n, first, last, end); /* the features before it begin before `end` */
    if (first == last)
        return false;
    if (next > first && n->reach[next - 1] > beg) {
        *feature = find_end(n, first, next, beg + 1);
        *distance = 0;
        return true;
    }
    const int64_t left = next > first ? beg - n->reach[next - 1] + 1 : INT64_MAX;
    const int64_t right = next < last ? n->a->items[next].beg - end + 1 : INT64_MAX;
    const bool is_left = left <= right;
    *feature = is_left ? find_end(n, first, next, n->reach[next - 1]) : next;
    const bool is_upstream = is_left == (n->a->items[*feature].strand == '-');
    *distance = is_upstream ? -(is_left ? left : right) : is_left ? left : right;
    return true;
}
