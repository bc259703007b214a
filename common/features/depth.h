/* depth.h - counts how many spans cover each position, with spans in any order.
 *
 * Contigs are laid end to end, so that one coordinate covers all of them. Several lanes are counted
 * independently. A span is a step up and a step down, and the depth is the running sum of the
 * steps. Steps are kept in pages. Only a few pages are in memory; steps for other pages wait in an
 * unlinked temporary file. So sorted input needs little memory and no file, and unsorted input
 * needs a file but no more memory.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_DEPTH_H
#define COV_FEATURES_DEPTH_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

enum { COV_DEPTH_MAX_LANES = 4 };

struct cov_depth;

struct cov_depth_options {
    size_t n_lanes;     /* 1 to COV_DEPTH_MAX_LANES */
    int64_t n;          /* positions */
    const char *tmpdir; /* for the temporary file */
    size_t max_pages;   /* 0: chosen */
    unsigned page_bits; /* log2 of the positions per page, at most 28; 0: chosen */
};

/* Starts with depth 0 everywhere. Free with cov_depth_free. */
int cov_depth_new(const struct cov_depth_options *options, struct cov_depth **out,
                  struct cov_err *e) COV_MUST_USE;
void cov_depth_free(struct cov_depth *d); /* NULL is accepted */

/* Adds one over [beg, end) of a lane; cov_depth_taken <= beg <= end <= n. */
int cov_depth_add(struct cov_depth *d, size_t lane, int64_t beg, int64_t end,
                  struct cov_err *e) COV_MUST_USE;

/* Sets lanes[k][0..n) to the depth at the next n positions, which are then finished; lanes may be
 * NULL. COV_EINPUT for a depth above 2^31 - 1. */
int cov_depth_take(struct cov_depth *d, size_t n, int32_t *const *lanes,
                   struct cov_err *e) COV_MUST_USE;

/* Returns the position that cov_depth_take reads next. */
int64_t cov_depth_taken(const struct cov_depth *d);

#endif
