/* cluster.h - hierarchical clustering with complete linkage: the distance of two clusters is the
 * largest distance of a member of one to a member of the other (Sorensen 1948).
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_CLUSTER_H
#define COV_TRACK_MEASURES_CLUSTER_H

#include <stddef.h>

#include "common/base/err.h"

/* Joins clusters a < b to a new one. Clusters 0 to n-1 are the items; n + k is that of join k. */
struct cov_cluster_join {
    size_t a, b;
    double distance;
    size_t size; /* items of the new cluster */
};

/* Fills joins[n - 1], n > 0, from the nearest pair to the farthest. Of equally near pairs, the one
 * whose first items come first is joined first. distances[n, n] is symmetric, without NaN, and is
 * overwritten. The numbers are those of scipy.cluster.hierarchy.linkage. O(n^3). */
int cov_cluster_complete(double *distances, size_t n, struct cov_cluster_join *joins,
                         struct cov_err *e) COV_MUST_USE;

/* Fills leaves[n] with the items in the order of the tree, cluster a of each join before b, like
 * scipy's leaves_list. */
int cov_cluster_leaves(const struct cov_cluster_join *joins, size_t n, size_t *leaves,
                       struct cov_err *e) COV_MUST_USE;

#endif
