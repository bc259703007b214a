/* contig_filter.c - see contig_filter.h.
 * SPDX-License-Identifier: MIT */
#include "common/signal/contig_filter.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"

static int read_regions(struct cov_contig_filter *f, struct cov_err *e)
{
    const struct cov_source_options *o = f->o;
    f->ranges = cov_calloc(o->regions.n, sizeof *f->ranges, e);
    f->found = cov_calloc(o->regions.n, sizeof *f->found, e);
    f->texts = cov_calloc(o->regions.n, sizeof *f->texts, e);
    int rc = f->ranges && f->found && f->texts ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < o->regions.n;) {
        char *text = f->texts[f->n_ranges] =
            cov_region_text((const char *const *)o->regions.items, o->regions.n, &i, NULL, e);
        rc = text ? cov_range_parse(text, &f->ranges[f->n_ranges++], e) : COV_ENOMEM;
    }
    if (!rc && o->bed_path)
        rc = cov_blacklist_read(o->bed_path, true, &f->bed, e);
    return rc;
}

int cov_contig_filter_open(struct cov_contig_filter *f, const struct cov_source_options *o,
                           struct cov_err *e)
{
    f->o = o;
    int rc =
        o->blacklist_path ? cov_blacklist_read(o->blacklist_path, false, &f->blacklist, e) : COV_OK;
    if (!rc && o->rename_path)
        rc = cov_rename_read(o->rename_path, &f->rename, e);
    return rc ? rc : read_regions(f, e);
}

void cov_contig_filter_close(struct cov_contig_filter *f)
{
    cov_rename_free(f->rename);
    cov_blacklist_free(f->blacklist);
    cov_blacklist_free(f->bed);
    for (size_t i = 0; f->texts && i < f->o->regions.n; i++)
        free(f->texts[i]);
    for (size_t i = 0; i < f->n_lists; i++)
        cov_region_list_fini(&f->lists[i]);
    free(f->texts);
    free(f->lists);
    free(f->ranges);
    free(f->found);
    *f = (struct cov_contig_filter){0};
}

/* ---- regions ---- */

static bool is_limited(const struct cov_contig_filter *f)
{
    return f->o->regions.n > 0 || f->o->bed_path;
}

/* Adds regions of one contig. */
static int add_all(struct cov_region_list *list, const struct cov_region *regions, size_t n,
                   struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = cov_region_list_add(list, (struct cov_region){0, regions[i].beg, regions[i].end}, e);
    return rc;
}

/* Adds what the options choose of contig `name`. */
static int add_chosen(struct cov_contig_filter *f, const char *name, struct cov_region_list *list,
                      struct cov_err *e)
{
    struct cov_region r = {0, 0, 0};
    size_t n;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < f->n_ranges; i++)
        if (cov_range_means(&f->ranges[i], name, &r.beg, &r.end)) {
            f->found[i] = true;
            rc = cov_region_list_add(list, r, e);
        }
    if (rc || !f->bed)
        return rc;
    (void)cov_blacklist_drops(f->bed, name); /* marks the name as present */
    const struct cov_region *bed = cov_blacklist_regions(f->bed, name, &n);
    return add_all(list, bed, n, e);
}

/* Adds everything outside the regions of the options to what is dropped of contig `name`. */
static int drop_outside(struct cov_contig_filter *f, const char *name, struct cov_track_contig *c,
                        struct cov_err *e)
{
    int rc = COV_RESERVE(&f->lists, &f->cap_lists, f->n_lists + 1, e);
    if (rc)
        return rc;
    struct cov_region_list *list = &f->lists[f->n_lists++];
    *list = (struct cov_region_list){0};
    rc = add_chosen(f, name, list, e);
    cov_region_list_merge(list);
    c->is_empty = list->n == 0;
    f->n_chosen += list->n > 0;
    /* The gaps between the regions. */
    int64_t end = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct cov_region chosen = list->items[i];
        list->items[i] = (struct cov_region){0, end, chosen.beg};
        end = chosen.end;
    }
    if (!rc)
        rc = cov_region_list_add(list, (struct cov_region){0, end, INT64_MAX}, e);
    if (!rc)
        rc = add_all(list, c->regions, c->n_regions, e);
    cov_region_list_merge(list);
    c->regions = list->items;
    c->n_regions = list->n;
    return rc;
}

/* ---- contigs ---- */

int cov_contig_filter_take(struct cov_contig_filter *f, const char *name,
                           struct cov_track_contig *c, bool *kept, struct cov_err *e)
{
    *c = (struct cov_track_contig){.name = name};
    if (f->rename)
        c->name = cov_rename_apply(f->rename, name, strlen(name));
    int64_t beg, end;
    /* Look up every name, so that the list knows which of its names are in the input. */
    bool drops = f->blacklist && cov_blacklist_drops(f->blacklist, name);
    bool other = f->o->only && !cov_range_means(f->o->only, c->name, &beg, &end);
    if (other || is_limited(f))
        cov_listing_add(&f->others, other ? c->name : name);
    *kept = !other && !drops;
    if (other)
        return COV_OK;
    f->drops_only = f->drops_only || (f->o->only && drops);
    if (f->blacklist && !drops)
        c->regions = cov_blacklist_regions(f->blacklist, name, &c->n_regions);
    return is_limited(f) ? drop_outside(f, name, c, e) : COV_OK;
}

int cov_contig_filter_check_length(struct cov_contig_filter *f, const char *name, int64_t length,
                                   const char *input, struct cov_err *e)
{
    for (size_t i = 0; i < f->n_ranges; i++) {
        int64_t beg, end;
        if (cov_range_means(&f->ranges[i], name, &beg, &end) && beg >= length)
            return cov_range_fail_beyond(&f->ranges[i], length, input, e);
    }
    size_t n = 0;
    const struct cov_region *regions =
        f->bed ? cov_blacklist_regions(f->bed, name, &n) : NULL; /* merged and ascending */
    if (n > 0 && regions[n - 1].end > length)
        cov_listing_add(&f->past, name);
    return COV_OK;
}

int cov_contig_filter_finish(const struct cov_contig_filter *f, const char *input,
                             struct cov_err *e)
{
    bool warns = !f->o->quiet;
    if (warns && f->blacklist)
        cov_blacklist_warn(f->blacklist, f->o->blacklist_path, input);
    if (warns && f->bed)
        cov_blacklist_warn(f->bed, f->o->bed_path, input);
    if (warns && f->past.n > 0)
        cov_warn("%s: regions extend past the end of %zu sequence%s of %s (%s%s); check that they "
                 "are for this "
                 "genome",
                 f->o->bed_path, f->past.n, cov_text_s((int64_t)f->past.n), input, f->past.text,
                 cov_listing_more(&f->past));
    if (warns && f->rename && cov_rename_unused(f->rename))
        cov_warn("%s: %zu of %zu names are not in %s", f->o->rename_path,
                 cov_rename_unused(f->rename), cov_rename_count(f->rename), input);
    for (size_t i = 0; i < f->n_ranges; i++)
        if (!f->found[i])
            return cov_range_fail_unknown(&f->ranges[i], input, &f->others, e);
    if (is_limited(f) && f->n_chosen == 0)
        return cov_fail(e, COV_EINPUT, "%s: no sequence overlaps the regions", input);
    return COV_OK;
}

int cov_contig_filter_fail_empty(const struct cov_contig_filter *f, const char *input,
                                 struct cov_err *e)
{
    if (f->o->only && f->drops_only)
        return cov_fail(e, COV_EINPUT, "region %s: its contig is listed in %s", f->o->only->text,
                        f->o->blacklist_path);
    if (f->o->only)
        return cov_range_fail_unknown(f->o->only, input, &f->others, e);
    return cov_fail(e, COV_EINPUT, "%s: no contig left%s%s", input,
                    f->blacklist ? ": all are listed in " : "",
                    f->blacklist ? f->o->blacklist_path : "");
}
