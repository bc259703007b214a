/* rank_rows.h - rows of bytes distributed over the memory of several processes (ranks.h), readable
 * by all.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_RANK_ROWS_H
#define COV_EXAMPLES_RANK_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/codec.h"
#include "common/examples/ranks.h"

struct cov_rank_rows;

/* Creates an empty store of n_rows rows. Process k of *ranks (borrowed until free) keeps rows
 * [firsts[k], firsts[k + 1]); firsts[0] is 0, firsts[ranks->n] is n_rows, and all processes pass
 * the same firsts[]. Free with cov_rank_rows_free; shared memory remains readable by the others
 * until cov_ranks_close. */
int cov_rank_rows_new(struct cov_ranks *ranks, size_t n_rows, const size_t *firsts,
                      struct cov_rank_rows **out, struct cov_err *e) COV_MUST_USE;
void cov_rank_rows_free(struct cov_rank_rows *k); /* NULL is accepted */

/* Stores data[0..n), n > 0, as row i of this process. Rows must ascend; rows may be omitted. */
int cov_rank_rows_put(struct cov_rank_rows *k, size_t i, const uint8_t *data, size_t n,
                      struct cov_err *e) COV_MUST_USE;
/* Shares the rows. Called by all processes, after all rows were added. */
int cov_rank_rows_publish(struct cov_rank_rows *k, struct cov_err *e) COV_MUST_USE;

/* After publishing: returns the bytes of row i of any process; 0 if the row was omitted. */
size_t cov_rank_rows_bytes(const struct cov_rank_rows *k, size_t i);

/* Starts reading row i into *row, as one piece. Its data is valid after the next
 * cov_rank_rows_complete; until then *row must not change. One thread at a time. */
int cov_rank_rows_get(struct cov_rank_rows *k, size_t i, struct cov_blob *row,
                      struct cov_err *e) COV_MUST_USE;
int cov_rank_rows_complete(struct cov_rank_rows *k, struct cov_err *e) COV_MUST_USE;

#endif
