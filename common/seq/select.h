/* select.h - selects rows of a file by region, name and length.
 *
 * Regions are texts (range.h) or BED, which is 0-based and half-open. A region selects all chunks
 * that overlap it, on both strands. Several requests together select all chunks that any of them
 * selects.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_SELECT_H
#define COV_SEQ_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/grid.h"
#include "common/seq/range.h"

struct cov_select;

/* Creates a selection without requests. Borrows the grid until free. */
int cov_select_new(const struct cov_grid *g, struct cov_select **out,
                   struct cov_err *e) COV_MUST_USE;
void cov_select_free(struct cov_select *s); /* NULL is accepted */

/* Adds the region `text`. Fails with COV_EUSAGE if the region is malformed, with COV_EINPUT if it
 * begins past the end of its sequence or names no sequence. If several species have a sequence of that name,
 * selects all of these sequences. */
int cov_select_region(struct cov_select *s, const char *text, struct cov_err *e) COV_MUST_USE;

/* Adds the n parts of a list that was split at its commas, see cov_region_text. */
int cov_select_regions(struct cov_select *s, const char *const *texts, size_t n,
                       struct cov_err *e) COV_MUST_USE;

/* Adds the regions of a BED file: contig, start, end; ignores further columns, blank lines,
 * comments, and lines that begin with `track` or `browser`. For any other line, fails with
 * COV_EINPUT and the line number. Warns about unknown contigs. */
int cov_select_read_bed(struct cov_select *s, const char *path, struct cov_err *e) COV_MUST_USE;

/* Adds the sequences named in a file, by the first word of each line. Warnings about unknown
 * names mention `option`. */
int cov_select_read_names(struct cov_select *s, const char *option, const char *path,
                          struct cov_err *e) COV_MUST_USE;

/* Excludes the sequences named in such a file, even if something else requests them. */
int cov_select_read_excluded(struct cov_select *s, const char *path,
                             struct cov_err *e) COV_MUST_USE;

/* Sets wanted[i] for each row i of the grid. It is true if the row overlaps a request (or
 * nothing was requested), and its sequence is not excluded and has at least min_length bases. */
void cov_select_rows(struct cov_select *s, int64_t min_length, bool *wanted);

/* Finds the first stretch [*beg, *end) of requested bases within [from, to) of a sequence.
 * Returns false if there is none. Call it only after cov_select_rows. Thread-safe. */
bool cov_select_stretch(const struct cov_select *s, size_t seq, int64_t from, int64_t to,
                        int64_t *beg, int64_t *end);

#endif
