/* contig_filter.c - see contig_filter.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/contig_filter.h"

#include <string.h>

#include "common/base/log.h"

int cov_contig_filter_open(struct cov_contig_filter *f, const struct cov_source_options *o,
                           struct cov_err *e)
{
    f->o = o;
    int rc = o->blacklist_path ? cov_blacklist_read(o->blacklist_path, &f->blacklist, e) : COV_OK;
    if (!rc && o->rename_path)
        rc = cov_rename_read(o->rename_path, &f->rename, e);
    return rc;
}

void cov_contig_filter_close(struct cov_contig_filter *f)
{
    cov_rename_free(f->rename);
    cov_blacklist_free(f->blacklist);
    *f = (struct cov_contig_filter){0};
}

bool cov_contig_filter_take(struct cov_contig_filter *f, const char *name,
                            struct cov_track_contig *c)
{
    *c = (struct cov_track_contig){.name = name};
    if (f->rename)
        c->name = cov_rename_apply(f->rename, name, strlen(name));
    int64_t beg, end;
    /* Look up every name, so that the list knows which of its names are in the input. */
    bool drops = f->blacklist && cov_blacklist_drops(f->blacklist, name);
    if (f->o->only && !cov_range_means(f->o->only, c->name, &beg, &end)) {
        cov_listing_add(&f->others, c->name);
        return false;
    }
    f->drops_only = f->drops_only || (f->o->only && drops);
    if (f->blacklist && !drops)
        c->regions = cov_blacklist_regions(f->blacklist, name, &c->n_regions);
    return !drops;
}

void cov_contig_filter_warn(const struct cov_contig_filter *f, const char *input)
{
    if (f->blacklist)
        cov_blacklist_warn(f->blacklist, f->o->blacklist_path, input);
    if (f->rename && cov_rename_unused(f->rename))
        cov_warn("%s: %zu of %zu names are not in %s", f->o->rename_path,
                 cov_rename_unused(f->rename), cov_rename_count(f->rename), input);
}

int cov_contig_filter_fail_empty(const struct cov_contig_filter *f, const char *input,
                                 struct cov_err *e)
{
    if (f->o->only && f->drops_only)
        return cov_fail(e, COV_EUSAGE, "region %s: its contig is listed in %s", f->o->only->text,
                        f->o->blacklist_path);
    if (f->o->only)
        return cov_range_fail_unknown(f->o->only, input, &f->others, e);
    return cov_fail(e, COV_EINPUT, "%s: no contig left to convert%s%s", input,
                    f->blacklist ? ": all are listed in " : "",
                    f->blacklist ? f->o->blacklist_path : "");
}
