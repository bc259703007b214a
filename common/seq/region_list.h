/* region_list.h - a list of regions of numbered contigs, merged where they overlap.
 *
 * Adding merges from time to time, because a small compressed file may repeat the same regions
 * millions of times.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_REGION_LIST_H
#define COV_SEQ_REGION_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Bases beg .. end-1 of a contig, 0-based. */
struct cov_region {
    size_t contig; /* a number of the list's owner; 0 if all regions are of one contig */
    int64_t beg, end;
};

/* All zero is an empty list. */
struct cov_region_list {
    struct cov_region *items; /* [n]. Owned */
    size_t n, cap;
};

void cov_region_list_fini(struct cov_region_list *l);
int cov_region_list_add(struct cov_region_list *l, struct cov_region region,
                        struct cov_err *e) COV_MUST_USE;
/* Sorts by contig and position, and merges regions that overlap or touch. */
void cov_region_list_merge(struct cov_region_list *l);

/* Regions of a contig: disjoint, ascending. Borrowed. */
struct cov_region_span {
    const struct cov_region *items;
    size_t n;
};

/* Sets *out to the parts of `from` that are outside `drop`. */
int cov_region_list_subtract(struct cov_region_list *out, struct cov_region_span from,
                             struct cov_region_span drop, struct cov_err *e) COV_MUST_USE;

/* Returns whether a region of the list (regions as in a span) has bases beg .. end-1. */
bool cov_region_list_overlaps(const struct cov_region_list *l, int64_t beg, int64_t end);

/* Returns the number of bases in the regions, of a merged list. */
int64_t cov_region_list_bases(const struct cov_region_list *l);

#endif
