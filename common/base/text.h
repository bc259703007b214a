/* text.h - texts that come from files and command lines.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_TEXT_H
#define COV_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* White space within a line: of the C locale, but for the newline. */
static inline bool cov_text_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* A position in a file, n bytes: digits only, and at most 18 of them. */
bool cov_text_position(const char *text, size_t n, int64_t *out);

/* Replaces, in place, every byte that a terminal would take for a command by '?': the control
 * characters of ASCII, and those of UTF-8 (U+0080 to U+009F). */
void cov_text_make_printable(char *text);

/* "s", or "" of one: behind the name of what is counted. */
static inline const char *cov_text_s(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* "a, b, c, d, e, ...". All zero is an empty one. */
struct cov_listing {
    char text[400];
    size_t n; /* names, those that are not shown too */
    /* Private. */
    size_t used, n_shown;
};

/* Shows the first five, as far as there is room; of a first one that is longer than that, its
 * begin. */
void cov_listing_add(struct cov_listing *l, const char *name);

/* ", ..." when there are more names than shown, else "". */
const char *cov_listing_more(const struct cov_listing *l);

#endif
