/* coverage_store.h - keeps the measured coverage of all pairs of chunks, already encoded, in a
 * temporary file.
 *
 * Counted coverage is kept here until the overall maximum is known, which decides the element type.
 * Rows are encoded with a type that fits their pair. That is usually the final type; otherwise the
 * rows are encoded again.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_COVERAGE_STORE_H
#define COV_CHUNK_COVERAGE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/chunk/coverage_file.h"
#include "common/codec/blob.h"
#include "common/file/tmpfile.h"
#include "common/seq/grid.h"

struct cov_coverage_store {
    struct cov_spool spool;
    size_t n_pairs, L;
    size_t elem_bytes; /* minimum size */
    struct cov_stored_pair *pairs;
};

/* elem_bytes: 2, 4 or 8. */
int cov_coverage_store_init(struct cov_coverage_store *s, size_t n_pairs, size_t L,
                            size_t elem_bytes, const char *tmpdir, struct cov_err *e) COV_MUST_USE;
void cov_coverage_store_fini(struct cov_coverage_store *s); /* an all-zero store is accepted */

/* An encoded pair. */
struct cov_packed_pair {
    struct cov_blob blob;
    size_t elem_bytes;
    uint64_t hash; /* for sampled pairs */
};

/* Any thread: encodes the rows of pair i of the grid. lanes[set][strand] may be the same for both
 * strands. */
int cov_coverage_store_pack(const struct cov_coverage_store *s, size_t i,
                            const struct cov_pair *pair,
                            const struct cov_depth_lane lanes[COV_COVERAGE_SETS][2],
                            struct cov_packed_pair *out, struct cov_err *e) COV_MUST_USE;

/* One thread: stores a packed pair. */
int cov_coverage_store_put(struct cov_coverage_store *s, size_t i,
                           const struct cov_packed_pair *packed, struct cov_err *e) COV_MUST_USE;

/* The row of one strand and set of a pair of n bases. */
struct cov_stored_row {
    size_t pair;
    int strand, which;
    size_t n;
};

struct cov_coverage_scratch {
    int64_t *values; /* [n] */
    struct cov_blob blob;
};

/* Any thread, after all pairs were put: adds the piece of a row to *out, in elements of elem_bytes.
 * The row is zeros if the pair was not put. COV_EINPUT for a value that does not fit. */
int cov_coverage_store_get(const struct cov_coverage_store *s, const struct cov_stored_row *row,
                           size_t elem_bytes, struct cov_coverage_scratch *scratch,
                           struct cov_blob *out, struct cov_err *e) COV_MUST_USE;

/* Returns true if all pieces already have elements of that size. */
bool cov_coverage_store_is_ready(const struct cov_coverage_store *s, size_t elem_bytes);

/* ---- verifying the written file ---- */

/* Returns true if pair i is in the sample to be read back. The first and the last pair always
 * are. */
bool cov_coverage_store_samples(const struct cov_coverage_store *s, size_t i);

/* Hashes a sequence of rows one by one: returns the hash `before` of the previous rows (0 if none),
 * updated with one more row. */
uint64_t cov_coverage_hash(uint64_t before, const int64_t *values, size_t n);

/* Returns the hash of the rows of a sampled pair: the + strand before the -, and on each strand
 * coverage before spliced coverage. */
uint64_t cov_coverage_store_hash(const struct cov_coverage_store *s, size_t i,
                                 const struct cov_pair *pair);

#endif
