/* range.c - see range.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/range.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN = 200 /* bytes of a text in messages */ };

/* A number with or without commas at *p. */
static bool read_position(const char **p, int64_t *x)
{
    const int64_t most = INT64_C(1000000000000000000);
    const char *q = *p;
    *x = 0;
    if (*q < '0' || *q > '9')
        return false;
    for (; (*q >= '0' && *q <= '9') || *q == ','; q++) {
        if (*q == ',')
            continue;
        if (*x >= most / 10)
            return false;
        *x = 10 * *x + (*q - '0');
    }
    *p = q;
    return q[-1] != ',';
}

int cov_range_parse(const char *text, struct cov_range *r, struct cov_err *e)
{
    *r = (struct cov_range){.text = text};
    const char *colon = strrchr(text, ':'), *p = colon ? colon + 1 : text;
    int64_t first, last;
    if (*text == '\0')
        return cov_fail(e, COV_EUSAGE, "a region is wanted: NAME or NAME:FIRST-LAST");
    if (!colon || colon == text || !read_position(&p, &first) || *p++ != '-' ||
        !read_position(&p, &last) || *p != '\0')
        return COV_OK; /* a name, if anything */
    if (first < 1 || last < first)
        return cov_fail(e, COV_EUSAGE, "region %.*s: %s", SHOWN, text,
                        first < 1 ? "positions count from 1" : "it ends before it begins");
    r->n_name = (size_t)(colon - text);
    r->beg = first - 1;
    r->end = last;
    return COV_OK;
}

bool cov_range_means(const struct cov_range *r, const char *name, int64_t *beg, int64_t *end)
{
    if (strcmp(r->text, name) == 0) {
        *beg = 0;
        *end = INT64_MAX;
        return true;
    }
    if (r->n_name == 0 || strncmp(r->text, name, r->n_name) != 0 || name[r->n_name] != '\0')
        return false;
    *beg = r->beg;
    *end = r->end;
    return true;
}

int cov_range_fail_unknown(const struct cov_range *r, const char *where, struct cov_err *e)
{
    int n = r->n_name > 0 && r->n_name < SHOWN ? (int)r->n_name : SHOWN;
    return cov_fail(
        e, COV_EUSAGE, "region %.*s: %s has no sequence %.*s%s", SHOWN, r->text, where, n, r->text,
        r->n_name == 0 && strchr(r->text, ':') ? " (NAME or NAME:FIRST-LAST is wanted)" : "");
}

int cov_range_fail_beyond(const struct cov_range *r, int64_t length, const char *where,
                          struct cov_err *e)
{
    return cov_fail(e, COV_EUSAGE,
                    "region %.*s: it begins beyond the end of the sequence, which has "
                    "%" PRId64 " bases in %s",
                    SHOWN, r->text, length, where);
}
