/* loader_memory.h - what a loader keeps in memory: rows as they are stored, or codes of pairs, 4
 * bits a base. For loader.c alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_LOADER_MEMORY_H
#define COV_JOB_PREDICT_LOADER_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/codec/blob.h"
#include "common/seq/grid.h"

/* ---- rows as they are stored ---- */

struct cov_kept_rows;

/* Free with cov_kept_rows_free. */
int cov_kept_rows_new(size_t n_rows, struct cov_kept_rows **out, struct cov_err *e) COV_MUST_USE;
void cov_kept_rows_free(struct cov_kept_rows *k); /* NULL is accepted */

/* Copies the pieces of row i, which is put once. One thread. */
int cov_kept_rows_put(struct cov_kept_rows *k, size_t i, const struct cov_blob *row,
                      struct cov_err *e) COV_MUST_USE;
/* *row = the pieces of row i again. Any thread, once all are put. */
int cov_kept_rows_get(const struct cov_kept_rows *k, size_t i, struct cov_blob *row,
                      struct cov_err *e) COV_MUST_USE;

/* ---- codes ---- */

struct cov_kept_codes;

/* Room for the pairs of `grid`, which is borrowed until free. */
int cov_kept_codes_new(const struct cov_grid *grid, struct cov_kept_codes **out,
                       struct cov_err *e) COV_MUST_USE;
void cov_kept_codes_free(struct cov_kept_codes *k); /* NULL is accepted */

/* Keeps pair p: codes[s][0..L) of each of its strands. The - strand takes no room where it is the
 * reverse complement; scratch[L] is for finding out. Any thread, each pair once. */
int cov_kept_codes_put(struct cov_kept_codes *k, size_t p, uint8_t *const codes[2],
                       uint8_t *scratch, struct cov_err *e) COV_MUST_USE;
/* codes[s][0..L) again, of the strands of the pair. Any thread, once all are put. */
void cov_kept_codes_get(const struct cov_kept_codes *k, size_t p, uint8_t *const codes[2]);

#endif
