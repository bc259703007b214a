/* text.c - see text.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/text.h"

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
