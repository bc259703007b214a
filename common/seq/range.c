/* range.c - see range.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/range.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/number.h"

/* The most bytes of a text that messages show. */
enum { SHOWN = 200 };

/* Parses the n bytes at `text` as a position: a size, possibly with commas between its digits. */
static bool parse_position(const char *text, size_t n, int64_t *x)
{
    const int64_t most = INT64_C(999999999999999999);
    char size[40];
    size_t k = 0;
    for (size_t i = 0; i < n && k + 1 < sizeof size; i++)
        if (text[i] != ',')
            size[k++] = text[i];
        else if (i + 1 == n || !isdigit((unsigned char)text[i + 1]))
            return false;
    size[k] = '\0';
    return n > 0 && k + 1 < sizeof size && isdigit((unsigned char)*text) &&
           cov_parse_size(size, "", 0, most, x, NULL) == COV_OK;
}

/* Parses "FIRST-LAST", "FIRST-", "FIRST" or "-LAST". */
static bool parse_positions(const char *text, int64_t *first, int64_t *last)
{
    size_t n = strcspn(text, "-");
    const char *end = text[n] ? text + n + 1 : "";
    *first = 1;
    *last = INT64_MAX;
    if (n == 0 && !*end)
        return false;
    return (n == 0 || parse_position(text, n, first)) &&
           (!*end || parse_position(end, strlen(end), last));
}

int cov_range_parse(const char *text, struct cov_range *r, struct cov_err *e)
{
    *r = (struct cov_range){.text = text, .name = text, .end = INT64_MAX};
    const char *brace = *text == '{' ? strchr(text, '}') : NULL;
    const char *colon = brace ? brace + 1 : strrchr(text, ':');
    int64_t first = 1, last = INT64_MAX;
    if (*text == '\0')
        return cov_fail(e, COV_EUSAGE, "empty region: expected " COV_RANGE_FORMS);
    if (brace)
        r->name++;
    size_t n = brace ? (size_t)(brace - r->name) : colon ? (size_t)(colon - text) : strlen(text);
    if (colon && *colon && (*colon != ':' || !parse_positions(colon + 1, &first, &last)))
        return COV_OK; /* not a range: the text can only be a name */
    if (first < 1 || last < first)
        return cov_fail(e, COV_EUSAGE, "region %.*s: %s", SHOWN, text,
                        first < 1 ? "positions start at 1" : "ends before it begins");
    r->n_name = n;
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
    if (r->n_name == 0 || strncmp(r->name, name, r->n_name) != 0 || name[r->n_name] != '\0')
        return false;
    *beg = r->beg;
    *end = r->end;
    return true;
}

int cov_range_fail_unknown(const struct cov_range *r, const char *where,
                           const struct cov_listing *contigs, struct cov_err *e)
{
    bool several = strchr(r->text, ' ') != NULL; /* names have no blanks */
    bool listed = contigs && contigs->n > 0 && !several;
    int n = r->n_name > 0 && r->n_name < SHOWN ? (int)r->n_name : SHOWN;
    return cov_fail(e, COV_EINPUT, "%s%sregion %.*s: unknown contig %.*s%s%s%s%s%s",
                    where ? where : "", where ? ": " : "", SHOWN, r->text, n, r->name,
                    r->n_name ? "" : " (expected " COV_RANGE_FORMS ")",
                    several ? "; separate regions by commas" : "",
                    listed ? "; the contigs are: " : "", listed ? contigs->text : "",
                    listed ? cov_listing_more(contigs) : "");
}

int cov_range_fail_beyond(const struct cov_range *r, int64_t length, const char *where,
                          struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT,
                    "%s%sregion %.*s: begins past the end of the contig, which has %" PRId64
                    " bases",
                    where ? where : "", where ? ": " : "", SHOWN, r->text, length);
}

/* Returns true if parts[0] continues `before`, which was split at a comma: a number, as "000" or
 * "000-2", or a name in braces that ends in one of the n parts. */
static bool continues(const struct cov_names *names, const char *before, const char *const *parts,
                      size_t n)
{
    const char *text = parts[0];
    size_t k;
    for (size_t i = 0; before[0] == '{' && !strchr(before, '}') && i < n; i++)
        if (strchr(parts[i], '}'))
            return true;
    return strchr(before, ':') && strspn(text, "0123456789") == 3 &&
           (text[3] == '\0' || strchr("-.kKmMgG", text[3])) &&
           !(names && cov_names_find(names, text, strlen(text), &k));
}

char *cov_region_text(const char *const *parts, size_t n, size_t *i, const struct cov_names *names,
                      struct cov_err *e)
{
    char *text = cov_strdup(parts[(*i)++], e);
    while (text && *i < n && continues(names, text, parts + *i, n - *i)) {
        char *joined = cov_strfmt(e, "%s,%s", text, parts[(*i)++]);
        free(text);
        text = joined;
    }
    return text;
}
