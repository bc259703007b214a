/* text.h - text from files and command lines, numbers in it, and lists of names for messages.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_TEXT_H
#define COV_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Returns true for white space of the C locale, except the newline. */
static inline bool cov_text_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Parses the n bytes at `text` as a position: 1 to 18 digits and nothing else. Returns false for
 * other text. */
bool cov_text_position(const char *text, size_t n, int64_t *out);

/* Returns the number of bytes of the byte order mark of UTF-8 at the start of a text, 3 or 0. */
size_t cov_text_mark(const void *text, size_t n);

/* Returns true if both texts are equal, or both are NULL. */
bool cov_text_same(const char *a, const char *b);

/* Returns the plural ending of a counted noun: "s", or "" for n = 1. */
static inline const char *cov_text_s(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* Lists the first few of many names, for a message: "a, b, c, d, e". Initialise it with zeros. */
struct cov_listing {
    char text[400];
    size_t n; /* all names, including those not shown */
    /* Private. */
    size_t used, n_shown;
};

/* Adds a name. `text` shows as many of the first five names as fit. If the first name is too
 * long, truncates it. */
void cov_listing_add(struct cov_listing *l, const char *name);

/* Returns ", ..." if there are more names than shown, else "". */
const char *cov_listing_more(const struct cov_listing *l);

/* ---- numbers ---- */

/* Parse the whole text, which must be a number in [min, max] without surrounding blanks. Errors
 * are COV_EUSAGE, and their messages start with `what`. */
int cov_parse_i64(const char *text, const char *what, int64_t min, int64_t max, int64_t *out,
                  struct cov_err *e) COV_MUST_USE;
/* Parses a size, which may end in k, M or G. */
int cov_parse_size(const char *text, const char *what, int64_t min, int64_t max, int64_t *out,
                   struct cov_err *e) COV_MUST_USE;
/* Parses n sizes from 1 to `max`, which must differ. */
int cov_parse_sizes(char *const *texts, size_t n, const char *what, int64_t max, int64_t *out,
                    struct cov_err *e) COV_MUST_USE;
int cov_parse_double(const char *text, const char *what, double min, double max, double *out,
                     struct cov_err *e) COV_MUST_USE;

/* Parses "2/3": *part = 2, of *n = 3 parts, at most COV_MAX_PARTS. */
enum { COV_MAX_PARTS = 1000000000 };
int cov_parse_part(const char *text, const char *what, int64_t *part, int64_t *n,
                   struct cov_err *e) COV_MUST_USE;

/* Writes a finite number with as many digits as it takes to read the same number again. Returns
 * `text`. */
enum { COV_DOUBLE_TEXT = 32 };
const char *cov_format_double(double x, char text[COV_DOUBLE_TEXT]);

#endif
