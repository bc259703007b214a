/* blacklist.h - a list of contigs or regions to drop.
 *
 * A list of ids has one id per line. A BED file has contig, beg, end (0-based, half-open) and any
 * other columns. Columns are separated by tabs or blanks. Blank lines, comments that begin with '#'
 * at the start of a column, and BED's `track` and `browser` lines are ignored, as are empty
 * regions. The first line decides whether a file is a list of ids or a BED file.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_BLACKLIST_H
#define COV_FEATURES_BLACKLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/regions.h"

struct cov_blacklist;

/* Reads the file, compressed or not. COV_EINPUT "<path>:<line>: ..." for a line that is neither an
 * id nor a region, or of a different kind than the previous lines; with `needs_bed`, also for an id.
 * Free with cov_blacklist_free. */
int cov_blacklist_read(const char *path, bool needs_bed, struct cov_blacklist **out,
                       struct cov_err *e) COV_MUST_USE;
void cov_blacklist_free(struct cov_blacklist *b); /* NULL is accepted */

/* Returns true for a list of regions, false for a list of ids. */
bool cov_blacklist_has_regions(const struct cov_blacklist *b);

/* Returns true if the contig's id is listed. Marks the contig as present in the input. */
bool cov_blacklist_drops(struct cov_blacklist *b, const char *contig);

/* Returns the blacklisted regions of a contig: *n of them, ascending, disjoint. Borrowed. */
const struct cov_region *cov_blacklist_regions(const struct cov_blacklist *b, const char *contig,
                                               size_t *n);

/* Like cov_blacklist_regions, but returns only the regions that overlap bases [beg, end). */
const struct cov_region *cov_blacklist_overlaps(const struct cov_blacklist *b, const char *contig,
                                                int64_t beg, int64_t end, size_t *n);

/* Return the number of distinct names in the file, and the number of names for which
 * cov_blacklist_drops was never called. *first is set to one of the latter names (borrowed). */
size_t cov_blacklist_n_names(const struct cov_blacklist *b);
size_t cov_blacklist_n_unknown(const struct cov_blacklist *b, const char **first);
/* Warns about the latter, which are not in `input`. `path` is that of the list. */
void cov_blacklist_warn(const struct cov_blacklist *b, const char *path, const char *input);

#endif
