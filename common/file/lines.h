/* lines.h - reads text files line by line, compressed or not, and splits lines into words.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_LINES_H
#define COV_FILE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* A part of a line. */
struct cov_word {
    const char *text;
    size_t n;
};
bool cov_word_is(struct cov_word w, const char *text);

/* A line of a BED file, whose columns are separated by tabs or blanks. */
enum { COV_BED_COLUMNS = 6 };
struct cov_bed_line {
    struct cov_word words[COV_BED_COLUMNS]; /* missing ones have no text */
    size_t n;                               /* the first words, up to a comment */
    bool is_head;                           /* "track" or "browser" */
    bool has_place;                         /* the second and third word are positions: */
    int64_t beg, end;
};
void cov_bed_line_split(const char *beg, const char *end, struct cov_bed_line *out);

/* Returns what to add to a message about a line that lacks columns: that it separates them by
 * semicolons or commas, or "". */
const char *cov_line_hint(const char *beg, const char *end);

/* The same for a line without a sequence, a start and an end, which may also have a negative start,
 * or be a header. */
const char *cov_line_bed_hint(const char *beg, const char *end);

#endif
