/* select.h - which rows of a file are wanted: by region, by name, by length.
 *
 * A region is "chr" or "chr:beg-end", as in range.h; what is the name of a sequence as a
 * whole is that name, colons included. BED is 0-based and half-open. All chunks that overlap a
 * region are wanted, on both strands. What is asked for adds up.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_SELECT_H
#define COV_SEQ_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/grid.h"

struct cov_select;

/* Nothing is asked for yet. Borrows the grid until free. */
int cov_select_new(const struct cov_grid *g, struct cov_select **out,
                   struct cov_err *e) COV_MUST_USE;
void cov_select_free(struct cov_select *s); /* NULL is accepted */

/* Adds the region `text`. COV_EUSAGE when it is malformed, begins behind the end of its
 * sequence, or names none of the sequences. A name that is there in several species means all of
 * them. */
int cov_select_region(struct cov_select *s, const char *text, struct cov_err *e) COV_MUST_USE;

/* The same with the parts of a list that was cut at its commas, n of them: three digits that are
 * no sequence's name, and a '-' and more or the end behind them, go on with a number
 * ("chr1:1,000-2,000"). */
int cov_select_regions(struct cov_select *s, const char *const *texts, size_t n,
                       struct cov_err *e) COV_MUST_USE;

/* Adds the regions of a BED file: contig, start, end, and any more columns; blank lines, comments,
 * and lines that begin with `track` or `browser` are passed over. COV_EINPUT names the line of what
 * is no region. Of contigs that are not there, how many is a warning. */
int cov_select_read_bed(struct cov_select *s, const char *path, struct cov_err *e) COV_MUST_USE;

/* The same with a list of names: the first word of each line. The warning says which option gave it. */
int cov_select_read_names(struct cov_select *s, const char *option, const char *path,
                          struct cov_err *e) COV_MUST_USE;

/* The sequences of such a list are left out of the rows, whatever else asks for them. */
int cov_select_read_excluded(struct cov_select *s, const char *path,
                             struct cov_err *e) COV_MUST_USE;

/* Behind cov_select_rows, from any thread: the first stretch *beg .. *end-1 of bases from .. to-1 of a
 * sequence that was asked for; false if there is none. */
bool cov_select_stretch(const struct cov_select *s, size_t seq, int64_t from, int64_t to,
                        int64_t *beg, int64_t *end);

/* wanted[i], for each row i of the grid: whether it overlaps what was asked for (if nothing was:
 * yes) and its sequence is not left out and has at least min_length bases. */
void cov_select_rows(struct cov_select *s, int64_t min_length, bool *wanted);

#endif
