/* depth_store.h - depth of coverage of the pieces of a genome, compressed in a temporary file.
 *
 * What is read from a BAM file waits here until the largest value of all is known, which decides
 * the type that is written.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_DEPTH_STORE_H
#define COV_TRACK_DEPTH_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/spool.h"
#include "common/codec/blob.h"

struct cov_depth_store {
    struct cov_spool spool;
    size_t n_pieces, n_lanes;
    int64_t *at;     /* [n_pieces]; -1: nothing was put, all zero */
    uint32_t *bytes; /* [n_pieces] */
};

int cov_depth_store_init(struct cov_depth_store *s, size_t n_pieces, size_t n_lanes,
                         const char *tmpdir, struct cov_err *e) COV_MUST_USE;
void cov_depth_store_fini(struct cov_depth_store *s); /* harmless on zeros */

/* Any thread: *out (cleared) = lanes[k][0..n) compressed; it is all the scratch there is. */
int cov_depth_pack(const int32_t *const *lanes, size_t n_lanes, size_t n, struct cov_blob *out,
                   struct cov_err *e) COV_MUST_USE;

/* One thread: keeps a packed piece. */
int cov_depth_store_put(struct cov_depth_store *s, size_t piece, const struct cov_blob *packed,
                        struct cov_err *e) COV_MUST_USE;

/* Any thread, after all were put: lanes[k][0..n) of a piece that had n positions. */
int cov_depth_store_get(const struct cov_depth_store *s, size_t piece, size_t n,
                        int32_t *const *lanes, struct cov_blob *scratch,
                        struct cov_err *e) COV_MUST_USE;

#endif
