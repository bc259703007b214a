/* cluster.c - see cluster.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/cluster.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/mem.h"

/* A cluster is in the row of its first item. */
struct row {
    size_t id, size;
    bool used;
};

/* Finds the nearest rows x < y. */
static void find_nearest(const double *d, const struct row *rows, size_t n, size_t *x, size_t *y)
{
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; rows[i].used && k < n; k++)
            if (rows[k].used && d[i * n + k] < least) {
                least = d[i * n + k];
                *x = i;
                *y = k;
            }
}

int cov_cluster_complete(double *distances, size_t n, struct cov_cluster_join *joins,
                         struct cov_err *e)
{
    double *d = distances;
    struct row *rows = cov_malloc(n, sizeof *rows, e);
    if (!rows)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct row){i, 1, true};
    for (size_t k = 0; k + 1 < n; k++) {
        size_t x = 0, y = 0;
        find_nearest(d, rows, n, &x, &y);
        const size_t a = rows[x].id, b = rows[y].id, size = rows[x].size + rows[y].size;
        joins[k] = (struct cov_cluster_join){a < b ? a : b, a < b ? b : a, d[x * n + y], size};
        rows[x] = (struct row){n + k, size, true};
        rows[y].used = false;
        for (size_t i = 0; i < n; i++)
            d[x * n + i] = d[i * n + x] = fmax(d[x * n + i], d[y * n + i]);
    }
    free(rows);
    return COV_OK;
}

int cov_cluster_leaves(const struct cov_cluster_join *joins, size_t n, size_t *leaves,
                       struct cov_err *e)
{
    /* The position of each cluster's first leaf, from the last join, the root, down. */
    size_t *first = cov_calloc(2 * n, sizeof *first, e);
    if (!first)
        return COV_ENOMEM;
    for (size_t k = n - 1; k-- > 0;) {
        const struct cov_cluster_join *j = &joins[k];
        first[j->a] = first[n + k];
        first[j->b] = first[n + k] + (j->a < n ? 1 : joins[j->a - n].size);
    }
    for (size_t i = 0; i < n; i++)
        leaves[first[i]] = i;
    free(first);
    return COV_OK;
}
