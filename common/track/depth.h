/* depth.h - how many runs cover each position of a row of positions, from runs in any order.
 *
 * Contigs stand one behind the other in one coordinate; several lanes are counted at a time. A run
 * is a step up and a step down; depth is their running sum. Steps are kept in pages of memory of
 * which only a few are there at a time; those for other pages wait in an unlinked temporary file.
 * So sorted input takes little memory and no file, and unsorted input takes no more memory.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_DEPTH_H
#define COV_TRACK_DEPTH_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

enum { COV_DEPTH_MAX_LANES = 4 };

struct cov_depth;

struct cov_depth_options {
    size_t n_lanes;     /* 1 to COV_DEPTH_MAX_LANES */
    int64_t n;          /* positions */
    const char *tmpdir; /* of the temporary file */
    size_t max_pages;   /* 0: chosen */
    unsigned page_bits; /* log2 of the positions a page; 0: chosen. At most 28 */
};

/* All zero. Free with cov_depth_free. */
int cov_depth_new(const struct cov_depth_options *options, struct cov_depth **out,
                  struct cov_err *e) COV_MUST_USE;
void cov_depth_free(struct cov_depth *d); /* NULL is accepted */

/* One more over [beg, end) of a lane; taken positions <= beg <= end <= n. */
int cov_depth_add(struct cov_depth *d, size_t lane, int64_t beg, int64_t end,
                  struct cov_err *e) COV_MUST_USE;

/* lanes[k][0..n) = depth at the next n positions, which then are taken. COV_EINPUT for a depth
 * beyond 2^31 - 1. lanes NULL: they are passed over. */
int cov_depth_take(struct cov_depth *d, size_t n, int32_t *const *lanes,
                   struct cov_err *e) COV_MUST_USE;

/* The next position that will be taken. */
int64_t cov_depth_taken(const struct cov_depth *d);

#endif
