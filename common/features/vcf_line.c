/* vcf_line.c - see vcf_line.h.
 * SPDX-License-Identifier: MIT */
#include "common/features/vcf_line.h"

#include <string.h>

#include "common/base/err.h"

size_t cov_vcf_line_columns(const char *line, size_t n)
{
    const char *end = line + n;
    size_t n_columns = 1;
    for (const char *p = line; (p = memchr(p, '\t', (size_t)(end - p))); p++)
        n_columns++;
    return n_columns;
}

size_t cov_vcf_line_widest(const char *line)
{
    enum { MOST = 256 }; /* fields, of which htslib accepts fewer */
    size_t widest[MOST] = {0}, n_tabs = 0, k = 0, sum = 0;
    const char *from = line;
    for (const char *p = line; n_tabs < COV_VCF_HAS_FORMAT && *p; p++)
        if (*p == '\t' && ++n_tabs == COV_VCF_HAS_FORMAT)
            from = p + 1;
    if (n_tabs < COV_VCF_HAS_FORMAT)
        return 0;
    for (const char *p = from;; p++) {
        if (*p && *p != ':' && *p != '\t')
            continue;
        const size_t n = (size_t)(p - from) + 1;
        const size_t field = k < MOST ? k : MOST - 1;
        widest[field] = n > widest[field] ? n : widest[field];
        k = *p == ':' ? k + 1 : 0;
        from = p + 1;
        if (!*p)
            break;
    }
    for (size_t i = 0; i < MOST; i++)
        sum += widest[i];
    return sum - 1;
}

/* Returns how many values, separated by ':', samples have before the genotype; SIZE_MAX: no genotype. */
static size_t find_genotype(const char *format, const char *end)
{
    size_t n = 0;
    for (const char *p = format; p < end && *p != '\t'; p++) {
        if (strncmp(p, "GT", 2) == 0 && (p == format || p[-1] == ':') &&
            (p + 2 == end || p[2] == ':' || p[2] == '\t'))
            return n;
        n += *p == ':';
    }
    return SIZE_MAX;
}

bool cov_vcf_line_has_signs(const char *line)
{
    static const char *const before[] = {"\t|", "\t/", ":|", ":/"};
    for (size_t i = 0; i < COV_COUNT(before); i++)
        if (strstr(line, before[i]))
            return true;
    return false;
}

int64_t cov_vcf_line_drop_signs(char *line, size_t *n_line)
{
    char *const end = line + *n_line, *from = line, *to;
    int64_t n_signs = 0;
    for (int i = 1; i < COV_VCF_HAS_FORMAT; i++)
        from = (char *)memchr(from, '\t', (size_t)(end - from)) + 1;
    const size_t skipped = find_genotype(from, end);
    to = from = memchr(from, '\t', (size_t)(end - from));
    while (from < end) {
        const char *tab = memchr(from + 1, '\t', (size_t)(end - from - 1));
        char *const stop = tab ? from + (tab - from) : end, *sign = from + 1;
        size_t n = skipped;
        for (; n > 0 && sign < stop; sign++)
            n -= *sign == ':';
        if (n == 0 && sign < stop && (*sign == '|' || *sign == '/')) {
            const char next = sign[1 + strcspn(sign + 1, "|/:\t")];
            n_signs += next == '|' || next == '/' ? next != *sign : *sign == '/';
            memmove(to, from, (size_t)(sign - from));
            to += sign - from;
            from = sign + 1;
        }
        memmove(to, from, (size_t)(stop - from));
        to += stop - from;
        from = stop;
    }
    *to = '\0';
    *n_line = (size_t)(to - line);
    return n_signs;
}
