/* text.h - functions for text from files and command lines, and for text in messages.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_TEXT_H
#define COV_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Replaces the bytes that control a terminal with '?': ASCII control characters, and U+0080 to
 * U+009F in UTF-8. */
void cov_text_make_printable(char *text);

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

#endif
