/* range.h - regions as text.
 *
 * A region is written as for samtools: "chr", "chr:beg-end", "chr:beg-" or "chr:beg" (to the end of
 * the sequence), or "chr:-end", 1-based and inclusive. Its numbers may contain commas and end in k,
 * M or G (powers of 1000). If the whole text, including any colons, is the name of a sequence, it
 * means that sequence; braces enclose a name otherwise: "{chr:1}:1-2".
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_RANGE_H
#define COV_SEQ_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/text.h"
#include "common/seq/names.h"

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

/* Fail with COV_EINPUT. The first says that the file `where` has no such sequence and names
 * those it has, `contigs` (NULL: not known). The second says that the range begins after the
 * sequence's `length` bases. If `where` is NULL, the caller adds the file. */
int cov_range_fail_unknown(const struct cov_range *r, const char *where,
                           const struct cov_listing *contigs, struct cov_err *e);
int cov_range_fail_beyond(const struct cov_range *r, int64_t length, const char *where,
                          struct cov_err *e);

#endif
