/* textfile.h - text files: lines and their words, compressed or not; whole files; tables.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_TEXTFILE_H
#define COV_FILE_TEXTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/file/outfile.h"

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

/* A line of a BED file, whose columns are separated by tabs or blanks; after tabs, the name may have blanks. */
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

/* ---- whole files ---- */

/* Reads a regular file of at most max_bytes, 1 MiB or more; the text is NUL-terminated. Caller
 * frees *text; NULL after a failure. */
int cov_textfile_read(const char *path, size_t max_bytes, char **text, size_t *n,
                      struct cov_err *e) COV_MUST_USE;

/* Reads and parses a JSON file. Caller frees *out with cov_json_free; NULL after a failure. */
int cov_textfile_read_json(const char *path, size_t max_bytes, struct cov_json_value **out,
                           struct cov_err *e) COV_MUST_USE;

/* ---- tables ---- */

/* Prints a name from a file or command line. Control characters become '?', because they would
 * start another column or line. The caller checks the stream for errors. */
void cov_table_put_text(const char *text, FILE *f);

/* Prints a tab and a number; NaN is "NA". The caller checks the stream for errors. */
void cov_table_put_number(double x, FILE *f);

/* Prints a table to `out`, which the caller commits, or to `printed` if *out is empty. Checks for
 * errors. */
typedef void cov_table_fn(const void *arg, FILE *f);
int cov_table_write(const struct cov_outfile *out, FILE *printed, cov_table_fn *print,
                    const void *arg, struct cov_err *e) COV_MUST_USE;

#endif
