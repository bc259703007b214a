/* loader_memory.h - chunks kept in memory: rows as stored, or codes packed to 4 bits per base.
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

/* Stores a copy of row i. Each row is stored once, by one thread. */
int cov_kept_rows_put(struct cov_kept_rows *k, size_t i, const struct cov_blob *row,
                      struct cov_err *e) COV_MUST_USE;
/* Sets *row to the pieces of row i. Any thread may call it once all rows are stored. */
int cov_kept_rows_get(const struct cov_kept_rows *k, size_t i, struct cov_blob *row,
                      struct cov_err *e) COV_MUST_USE;

/* ---- codes ---- */

struct cov_kept_codes;

/* Allocates room for the pairs of `grid`, which is borrowed until free. Free with
 * cov_kept_codes_free. */
int cov_kept_codes_new(const struct cov_grid *grid, struct cov_kept_codes **out,
                       struct cov_err *e) COV_MUST_USE;
void cov_kept_codes_free(struct cov_kept_codes *k); /* NULL is accepted */

/* Stores pair p: codes[s][0..L) of each of its strands. A - strand that is the reverse complement
 * takes no space; scratch[L] is used for the comparison. Any thread may call it, once per pair. */
int cov_kept_codes_put(struct cov_kept_codes *k, size_t p, uint8_t *const codes[2],
                       uint8_t *scratch, struct cov_err *e) COV_MUST_USE;
/* Sets codes[s][0..L) to the codes of each strand of pair p. Any thread may call it once all pairs
 * are stored. */
void cov_kept_codes_get(const struct cov_kept_codes *k, size_t p, uint8_t *const codes[2]);

#endif
