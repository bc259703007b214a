/* track_filter.h - leaves intervals out of a track: small values, zeros, regions.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_TRACK_FILTER_H
#define COV_TRACK_TRACK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

/* Bases beg .. end-1 of a contig, 0-based. */
struct cov_region {
    int64_t beg, end;
};

enum { COV_TRACK_FILTER_BLOCK = 256 };

struct cov_track_filter {
    bool skip_zero;
    bool has_min; /* values below `min` are left out */
    double min;
    struct cov_track_sink *sink; /* gets what is left. Borrowed */
    /* The rest is private. */
    const struct cov_region *regions;
    size_t n_regions, at;
    size_t n;
    struct cov_interval iv[COV_TRACK_FILTER_BLOCK];
};

/* Begins a contig, of which `regions` (ascending, disjoint; borrowed until cov_track_filter_end)
 * are left out. */
void cov_track_filter_begin(struct cov_track_filter *f, const struct cov_region *regions,
                            size_t n_regions);

/* A cov_runs_fn with a struct cov_track_filter as its argument: the next n intervals of the contig,
 * ascending. */
int cov_track_filter_add(void *filter, const struct cov_interval *iv, size_t n,
                         struct cov_err *e) COV_MUST_USE;

/* Hands on what is left. */
int cov_track_filter_end(struct cov_track_filter *f, struct cov_err *e) COV_MUST_USE;

#endif
