/* blacklist.c - see blacklist.h.
 * SPDX-License-Identifier: MIT */
#include "common/features/blacklist.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/file/textfile.h"
#include "common/seq/names.h"
#include "common/seq/regions.h"

struct cov_blacklist {
    bool is_bed, needs_bed;
    struct cov_names *names;
    bool *seen; /* per name: it is in the genome */
    size_t cap_seen;
    struct cov_region_list regions; /* of a BED file, by number of the name */
    size_t *first;                  /* per name: index into regions; one more for the end */
};

void cov_blacklist_free(struct cov_blacklist *b)
{
    if (!b)
        return;
    cov_names_free(b->names);
    free(b->seen);
    cov_region_list_fini(&b->regions);
    free(b->first);
    free(b);
}

/* ---- lines ---- */

static int add_name(struct cov_blacklist *b, const struct cov_word *w, size_t *index,
                    struct cov_err *e)
{
    bool is_new;
    int rc = cov_names_add(b->names, w->text, w->n, index, &is_new, e);
    if (rc || !is_new)
        return rc;
    rc = COV_RESERVE(&b->seen, &b->cap_seen, *index + 1, e);
    if (!rc)
        b->seen[*index] = false;
    return rc;
}

static int take_line(struct cov_blacklist *b, const char *path, size_t line, const char *beg,
                     const char *end, struct cov_err *e)
{
    struct cov_bed_line l;
    cov_bed_line_split(beg, end, &l);
    if (l.n == 0 || (l.n > 1 && l.is_head))
        return COV_OK;
    const bool is_region = l.has_place;
    struct cov_region region = {0, l.beg, l.end};
    if ((l.n > 1 || b->needs_bed) && !is_region)
        return cov_fail(e, COV_EINPUT, "%s:%zu: expected %scontig, start and end%s", path, line,
                        b->needs_bed ? "" : "an id alone, or ", cov_line_bed_hint(beg, end));
    if (cov_names_count(b->names) == 0)
        b->is_bed = is_region;
    if (b->is_bed != is_region)
        return cov_fail(e, COV_EINPUT, "%s:%zu: %s among %s", path, line,
                        is_region ? "a region" : "an id", is_region ? "ids" : "regions");
    if (is_region && region.end < region.beg)
        return cov_fail(e, COV_EINPUT, "%s:%zu: the region ends before it starts", path, line);
    int rc = add_name(b, &l.words[0], &region.contig, e);
    if (!rc && region.end > region.beg)
        rc = cov_region_list_add(&b->regions, region, e);
    return rc;
}

/* ---- regions ---- */

/* Merges the regions and finds those of each name. */
static int index_regions(struct cov_blacklist *b, struct cov_err *e)
{
    size_t n_names = cov_names_count(b->names), name = 0;
    cov_region_list_merge(&b->regions);
    b->first = cov_calloc(n_names + 1, sizeof *b->first, e);
    if (!b->first)
        return COV_ENOMEM;
    for (size_t i = 0; i < b->regions.n; i++)
        while (name < b->regions.items[i].contig)
            b->first[++name] = i;
    while (name < n_names)
        b->first[++name] = b->regions.n;
    return COV_OK;
}

int cov_blacklist_read(const char *path, bool needs_bed, struct cov_blacklist **out,
                       struct cov_err *e)
{
    *out = NULL;
    struct cov_lines *lines = NULL;
    const char *text;
    size_t n, line;
    struct cov_blacklist *b = cov_calloc(1, sizeof *b, e);
    int rc = b ? cov_names_new(&b->names, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_lines_open(path, &lines, e);
    if (!rc)
        b->needs_bed = needs_bed;
    while (!rc && (rc = cov_lines_next(lines, &text, &n, &line, e)) > 0)
        rc = take_line(b, path, line, text, text + n, e);
    cov_lines_close(lines);
    if (!rc)
        rc = index_regions(b, e);
    if (rc)
        cov_blacklist_free(b);
    else
        *out = b;
    return rc;
}

/* ---- questions ---- */

bool cov_blacklist_has_regions(const struct cov_blacklist *b)
{
    return b->is_bed;
}

bool cov_blacklist_drops(struct cov_blacklist *b, const char *contig)
{
    size_t name;
    if (!cov_names_find(b->names, contig, strlen(contig), &name))
        return false;
    b->seen[name] = true;
    return !b->is_bed;
}

const struct cov_region *cov_blacklist_regions(const struct cov_blacklist *b, const char *contig,
                                               size_t *n)
{
    size_t name;
    *n = 0;
    if (!cov_names_find(b->names, contig, strlen(contig), &name))
        return NULL;
    *n = b->first[name + 1] - b->first[name];
    return *n ? b->regions.items + b->first[name] : NULL;
}

const struct cov_region *cov_blacklist_overlaps(const struct cov_blacklist *b, const char *contig,
                                                int64_t beg, int64_t end, size_t *n)
{
    size_t all;
    const struct cov_region *regions = cov_blacklist_regions(b, contig, &all);
    const size_t first = all ? cov_regions_after(regions, all, regions->contig, beg) : 0;
    *n = 0;
    while (first + *n < all && regions[first + *n].beg < end)
        ++*n;
    return *n ? regions + first : NULL;
}

size_t cov_blacklist_n_names(const struct cov_blacklist *b)
{
    return cov_names_count(b->names);
}

size_t cov_blacklist_n_unknown(const struct cov_blacklist *b, const char **first)
{
    size_t n = 0;
    for (size_t i = cov_names_count(b->names); i-- > 0;)
        if (!b->seen[i]) {
            n++;
            *first = cov_names_get(b->names, i, NULL);
        }
    return n;
}

void cov_blacklist_warn(const struct cov_blacklist *b, const char *path, const char *input)
{
    const char *first = "";
    size_t n = cov_blacklist_n_unknown(b, &first);
    if (n)
        cov_warn("%s: %zu of %zu names are not in %s; the first is %.100s%s", path, n,
                 cov_blacklist_n_names(b), input, first,
                 cov_line_hint(first, first + strlen(first)));
}
