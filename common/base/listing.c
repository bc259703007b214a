/* listing.c - see listing.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/listing.h"

#include <string.h>

enum { SHOWN = 5 };

void cov_listing_add(struct cov_listing *l, const char *name)
{
    l->n++;
    size_t length = strlen(name);
    if (l->n > SHOWN || l->used + length + 3 > sizeof l->text)
        return;
    if (l->used > 0) {
        memcpy(l->text + l->used, ", ", 2);
        l->used += 2;
    }
    memcpy(l->text + l->used, name, length + 1);
    l->used += length;
}

const char *cov_listing_more(const struct cov_listing *l)
{
    return l->n > SHOWN ? ", ..." : "";
}
