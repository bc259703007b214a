/* rank_rows.h - rows of bytes that are spread over the memory of several processes (ranks.h), each of which
 * reads those of all.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_RANK_ROWS_H
#define COV_JOB_TRAIN_RANK_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/job/train/ranks.h"

struct cov_rank_rows;

/* Room for n_rows rows of which process k of *ranks (borrowed until free) keeps those from firsts[k] to
 * firsts[k + 1]; firsts[0] = 0, firsts[ranks->n] = n_rows, the same in all processes. Free with
 * cov_rank_rows_free; what is shared then is the others' until cov_ranks_close. */
int cov_rank_rows_new(struct cov_ranks *ranks, size_t n_rows, const size_t *firsts,
                      struct cov_rank_rows **out, struct cov_err *e) COV_MUST_USE;
void cov_rank_rows_free(struct cov_rank_rows *k); /* NULL is accepted */

/* Keeps data[0..n), n > 0, as row i of this process, in ascending order. Rows may be left out. */
int cov_rank_rows_put(struct cov_rank_rows *k, size_t i, const uint8_t *data, size_t n,
                      struct cov_err *e) COV_MUST_USE;
/* Once all are put; called by all processes. */
int cov_rank_rows_publish(struct cov_rank_rows *k, struct cov_err *e) COV_MUST_USE;

/* Of row i, whoever has it, once they are published; 0: it was left out. */
size_t cov_rank_rows_bytes(const struct cov_rank_rows *k, size_t i);

/* *row = row i as one piece, which is there with the next cov_rank_rows_complete; until then *row is not
 * to be changed. One thread at a time. */
int cov_rank_rows_get(struct cov_rank_rows *k, size_t i, struct cov_blob *row,
                      struct cov_err *e) COV_MUST_USE;
int cov_rank_rows_complete(struct cov_rank_rows *k, struct cov_err *e) COV_MUST_USE;

#endif
