/* range.h - a region as text: "chr", or "chr:beg-end", 1-based and inclusive, commas allowed in
 * numbers.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_RANGE_H
#define COV_SEQ_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* What a text may mean: a sequence whose name it is as a whole, or bases beg .. end-1 (0-based)
 * of the one whose name stands before the last colon. */
struct cov_range {
    const char *text; /* borrowed */
    size_t n_name;    /* text[0 .. n_name) is the name before the colon; 0: there is no range */
    int64_t beg, end;
};

/* COV_EUSAGE for an empty text, and for a range that begins before 1 or ends before it begins. */
int cov_range_parse(const char *text, struct cov_range *r, struct cov_err *e) COV_MUST_USE;

/* Whether the sequence is meant; *beg and *end are set then. *end may be beyond the sequence's
 * end, and is INT64_MAX where all of it is wanted. */
bool cov_range_means(const struct cov_range *r, const char *name, int64_t *beg, int64_t *end);

/* COV_EUSAGE: `where` has no sequence that is meant; or it ends there, after `length` bases, before
 * the range begins. */
int cov_range_fail_unknown(const struct cov_range *r, const char *where, struct cov_err *e);
int cov_range_fail_beyond(const struct cov_range *r, int64_t length, const char *where,
                          struct cov_err *e);

#endif
