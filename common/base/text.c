/* text.c - see text.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/text.h"

#include <string.h>

size_t cov_text_mark(const void *text, size_t n)
{
    static const char mark[] = "\xef\xbb\xbf";
    return n >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
}

bool cov_text_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

void cov_text_make_printable(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
        else if (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
            p[0] = p[1] = '?';
    }
}

bool cov_text_position(const char *text, size_t n, int64_t *out)
{
    enum { MAX_DIGITS = 18 };
    int64_t x = 0;
    if (n == 0 || n > MAX_DIGITS)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        x = x * 10 + (text[i] - '0');
    }
    *out = x;
    return true;
}

enum { SHOWN = 5 };

void cov_listing_add(struct cov_listing *l, const char *name)
{
    l->n++;
    size_t length = strlen(name), room = sizeof l->text - 1;
    if (l->n_shown == 0 && length > room)
        length = room; /* part of a name is better than none */
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
