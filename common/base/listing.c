/* listing.c - see listing.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/listing.h"

#include <string.h>

enum { SHOWN = 5 };

void cov_listing_add(struct cov_listing *l, const char *name)
{
    l->n++;
    size_t length = strlen(name), room = sizeof l->text - 1;
    if (l->n_shown == 0 && length > room)
        length = room; /* half a name is better than none */
    if (l->n_shown == SHOWN || l->n_shown + 1 < l->n ||
        l->used + length + 2 > room + 2 * !l->n_shown)
        return;
    if (l->n_shown++ > 0) {
        memcpy(l->text + l->used, ", ", 2);
        l->used += 2;
    }
    memcpy(l->text + l->used, name, length);
    l->used += length;
    l->text[l->used] = '\0';
}

const char *cov_listing_more(const struct cov_listing *l)
{
    return l->n > l->n_shown ? ", ..." : "";
}
