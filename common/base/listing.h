/* listing.h - the first of many names, for a message.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_LISTING_H
#define COV_BASE_LISTING_H

#include <stddef.h>

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
