/* blacklist.h - what is to be left out of a track: whole contigs by name, or regions.
 *
 * A list of ids has one a line. A BED file has contig, beg, end (0-based, half-open) and any more
 * columns. Columns are separated by tabs or blanks. Blank lines, what follows a '#' at the start of
 * a column, and BED's `track` and `browser` lines are passed over. A region without a base leaves
 * nothing out. A file is either or: its first line decides.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_BLACKLIST_H
#define COV_TRACK_BLACKLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Bases beg .. end-1 of a contig, 0-based. */
struct cov_region {
    int64_t beg, end;
};

struct cov_blacklist;

/* Reads the file, compressed or not. COV_EINPUT "<path>:<line>: ..." for a line that is neither an
 * id nor a region, or is of the other kind than the lines before. Free with cov_blacklist_free. */
int cov_blacklist_read(const char *path, struct cov_blacklist **out,
                       struct cov_err *e) COV_MUST_USE;
void cov_blacklist_free(struct cov_blacklist *b); /* NULL is accepted */

/* Whether it is a list of regions, not of ids. */
bool cov_blacklist_has_regions(const struct cov_blacklist *b);

/* Whether the whole contig is left out, because its id is listed. Notes that the contig exists. */
bool cov_blacklist_drops(struct cov_blacklist *b, const char *contig);

/* The regions of a contig that are left out: *n of them, ascending, disjoint. Borrowed. */
const struct cov_region *cov_blacklist_regions(const struct cov_blacklist *b, const char *contig,
                                               size_t *n);

/* Different names in the file, and how many of them cov_blacklist_drops was never asked for; *first
 * is one of those (borrowed). */
size_t cov_blacklist_n_names(const struct cov_blacklist *b);
size_t cov_blacklist_n_unknown(const struct cov_blacklist *b, const char **first);

#endif
