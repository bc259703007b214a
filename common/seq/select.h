/* select.h - regions as text, and which rows of a file they select: by region, name and length.
 *
 * A region is "chr" or "chr:beg-end", 1-based and inclusive, commas allowed in numbers. A text that
 * is the whole name of a sequence, colons included, is that sequence. BED is 0-based and half-open.
 * A region selects all chunks that overlap it, on both strands. Several requests add up.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_SELECT_H
#define COV_SEQ_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/text.h"
#include "common/seq/grid.h"

/* ---- a region as text ---- */

/* The two readings of a text: a sequence with that name, or bases [beg, end) (0-based) of the
 * sequence named before the last colon. */
struct cov_range {
    const char *text; /* borrowed */
    size_t n_name;    /* text[0 .. n_name) is the name before the colon; 0: not a range */
    int64_t beg, end;
};

/* COV_EUSAGE for an empty text, and for a range that begins before 1 or ends before it begins. */
int cov_range_parse(const char *text, struct cov_range *r, struct cov_err *e) COV_MUST_USE;

/* Returns true and sets *beg and *end if the region is in the sequence `name`. *end may be past the
 * end of the sequence; it is INT64_MAX for a whole sequence. */
bool cov_range_means(const struct cov_range *r, const char *name, int64_t *beg, int64_t *end);

/* Fails with COV_EUSAGE: the file `where` has no such sequence, but `contigs` (NULL: not known); or
 * the range begins after the sequence's `length` bases (`where` may be NULL). */
int cov_range_fail_unknown(const struct cov_range *r, const char *where,
                           const struct cov_listing *contigs, struct cov_err *e);
int cov_range_fail_beyond(const struct cov_range *r, int64_t length, const char *where,
                          struct cov_err *e);

/* ---- selections ---- */

struct cov_select;

/* An empty request. Borrows the grid until free. */
int cov_select_new(const struct cov_grid *g, struct cov_select **out,
                   struct cov_err *e) COV_MUST_USE;
void cov_select_free(struct cov_select *s); /* NULL is accepted */

/* Adds the region `text`. COV_EUSAGE if it is malformed, begins past the end of its sequence, or
 * names no sequence. A name that several species have selects all of them. */
int cov_select_region(struct cov_select *s, const char *text, struct cov_err *e) COV_MUST_USE;

/* Adds the n parts of a list that was split at its commas. Joins a part to the one before it if it
 * continues a number ("chr1:1,000-2,000"): three digits, alone or followed by '-', that are not
 * the name of a sequence. */
int cov_select_regions(struct cov_select *s, const char *const *texts, size_t n,
                       struct cov_err *e) COV_MUST_USE;

/* Adds the regions of a BED file: contig, start, end; ignores more columns, blank lines, comments,
 * and lines that begin with `track` or `browser`. COV_EINPUT names the line of anything else.
 * Warns about unknown contigs. */
int cov_select_read_bed(struct cov_select *s, const char *path, struct cov_err *e) COV_MUST_USE;

/* Adds the sequences of a list of names: the first word of each line. Warnings about unknown names
 * mention `option`. */
int cov_select_read_names(struct cov_select *s, const char *option, const char *path,
                          struct cov_err *e) COV_MUST_USE;

/* Excludes the sequences of such a list, even if something else requests them. */
int cov_select_read_excluded(struct cov_select *s, const char *path,
                             struct cov_err *e) COV_MUST_USE;

/* wanted[i] for each row i of the grid: true if it overlaps the request, or nothing was requested,
 * and its sequence is not excluded and has at least min_length bases. */
void cov_select_rows(struct cov_select *s, int64_t min_length, bool *wanted);

/* The first stretch [*beg, *end) of requested bases within [from, to) of a sequence; returns false
 * if there is none. Only after cov_select_rows; thread-safe. */
bool cov_select_stretch(const struct cov_select *s, size_t seq, int64_t from, int64_t to,
                        int64_t *beg, int64_t *end);

#endif
