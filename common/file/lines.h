/* lines.h - reads text files line by line, compressed or not.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_LINES_H
#define COV_FILE_LINES_H

#include <stddef.h>

#include "common/base/err.h"

struct cov_lines;

/* Opens `path` ("-": standard input) as cov_bgz_open_read does. Free with cov_lines_close. */
int cov_lines_open(const char *path, struct cov_lines **out, struct cov_err *e) COV_MUST_USE;
void cov_lines_close(struct cov_lines *l); /* NULL is accepted */

/* Reads the next line into (*text)[0..*n), without its newline and, at the start of the file, the byte order
 * mark of UTF-8; borrowed until the next call.
 * *number is the line number, from 1. Returns 1, 0 at the end of the file, or a failure. A line
 * of more than COV_MAX_LINE bytes, with a zero byte, or with a carriage return in it fails with
 * COV_EINPUT "<path>:<line>: ...". */
enum { COV_MAX_LINE = 1 << 20 };
int cov_lines_next(struct cov_lines *l, const char **text, size_t *n, size_t *number,
                   struct cov_err *e) COV_MUST_USE;

/* Fails if line `number` of the file `name` has a carriage return before its last word: old Macs end lines
 * in it, which looks like a blank. */
int cov_line_check_ends(const char *name, size_t number, const char *text, size_t n,
                        struct cov_err *e) COV_MUST_USE;

/* Returns the next word between *p and `end`, sets *n to its length in bytes, and advances *p
 * past it. Returns NULL at the end, and at a word that starts with '#'. */
const char *cov_line_word(const char **p, const char *end, size_t *n);

/* Returns what to add to a message about a line that lacks columns: that it separates them by
 * semicolons or commas, or "". */
const char *cov_line_hint(const char *beg, const char *end);

/* The same for a line without a sequence, a start and an end, which may also have a negative start,
 * or be a header. */
const char *cov_line_bed_hint(const char *beg, const char *end);

#endif
