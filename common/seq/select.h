/* select.h - parses regions, and selects rows of a file by region, name and length.
 *
 * A region is written as for samtools: "chr", "chr:beg-end", "chr:beg-" or "chr:beg" (to the end of
 * the sequence), or "chr:-end", 1-based and inclusive. Its numbers may contain commas and end in k,
 * M or G (powers of 1000). If the whole text, including any colons, is the name of a sequence, it
 * means that sequence; braces enclose a name otherwise: "{chr:1}:1-2". BED is 0-based and
 * half-open. A region selects all chunks that overlap it, on both strands. Several requests
 * together select all chunks that any of them selects.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_SELECT_H
#define COV_SEQ_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/text.h"
#include "common/seq/grid.h"
#include "common/seq/names.h"

/* ---- a region as text ---- */

#define COV_RANGE_FORMS "NAME or NAME:FIRST-LAST"

/* The two possible meanings of a text: a sequence with that name, or bases [beg, end) (0-based)
 * of the sequence named before the last colon or in braces. */
struct cov_range {
    const char *text; /* borrowed */
    const char *name; /* within the text */
    size_t n_name;    /* 0: not a range */
    int64_t beg, end; /* end: INT64_MAX without a last position */
};

/* Parses a region. Fails with COV_EUSAGE for an empty text, and for a range that begins before 1
 * or ends before it begins. */
int cov_range_parse(const char *text, struct cov_range *r, struct cov_err *e) COV_MUST_USE;

/* Returns true and sets *beg and *end if the region is in the sequence `name`. *end may be past the
 * end of the sequence; it is INT64_MAX without a last position. */
bool cov_range_means(const struct cov_range *r, const char *name, int64_t *beg, int64_t *end);

/* Returns the region that starts at parts[*i] of a list of n parts, split at its commas; advances
 * *i past it. Joins a part to the part before if it continues a name in braces, or a number
 * ("chr1:1,000-2,000"): if it is three digits, alone or followed by '-' or a unit, and none of the
 * `names` of sequences (may be NULL). Caller frees; NULL if out of memory. */
char *cov_region_text(const char *const *parts, size_t n, size_t *i, const struct cov_names *names,
                      struct cov_err *e);

/* Fail with COV_EUSAGE. The first says that the file `where` has no such sequence and names
 * those it has, `contigs` (NULL: not known). The second says that the range begins after the
 * sequence's `length` bases. If `where` is NULL, the caller adds the file. */
int cov_range_fail_unknown(const struct cov_range *r, const char *where,
                           const struct cov_listing *contigs, struct cov_err *e);
int cov_range_fail_beyond(const struct cov_range *r, int64_t length, const char *where,
                          struct cov_err *e);

/* ---- selections ---- */

struct cov_select;

/* Creates a selection without requests. Borrows the grid until free. */
int cov_select_new(const struct cov_grid *g, struct cov_select **out,
                   struct cov_err *e) COV_MUST_USE;
void cov_select_free(struct cov_select *s); /* NULL is accepted */

/* Adds the region `text`. Fails with COV_EUSAGE if the region is malformed, begins past the end
 * of its sequence, or names no sequence. If several species have a sequence of that name,
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
