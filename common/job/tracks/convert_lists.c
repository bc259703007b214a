/* convert_lists.c - see convert_lists.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/convert_lists.h"

#include <string.h>

#include "common/base/log.h"

int cov_convert_lists_open(struct cov_convert_lists *l, const struct cov_convert_options *o,
                           struct cov_err *e)
{
    l->o = o;
    int rc = o->blacklist_path ? cov_blacklist_read(o->blacklist_path, &l->blacklist, e) : COV_OK;
    if (!rc && o->rename_path)
        rc = cov_rename_read(o->rename_path, &l->rename, e);
    return rc;
}

void cov_convert_lists_close(struct cov_convert_lists *l)
{
    cov_rename_free(l->rename);
    cov_blacklist_free(l->blacklist);
    *l = (struct cov_convert_lists){0};
}

bool cov_convert_lists_contig(struct cov_convert_lists *l, const char *name,
                              struct cov_convert_contig *c)
{
    *c = (struct cov_convert_contig){.name = name};
    if (l->rename)
        c->name = cov_rename_apply(l->rename, name, strlen(name));
    int64_t beg, end;
    /* Asks the list of any name, so that it knows which of its own are in the input. */
    bool drops = l->blacklist && cov_blacklist_drops(l->blacklist, name);
    if (l->o->only && !cov_range_means(l->o->only, c->name, &beg, &end))
        return false;
    l->drops_only = l->drops_only || (l->o->only && drops);
    if (l->blacklist && !drops)
        c->regions = cov_blacklist_regions(l->blacklist, name, &c->n_regions);
    return !drops;
}

void cov_convert_lists_warn(const struct cov_convert_lists *l, const char *input)
{
    if (l->blacklist) {
        const char *first;
        size_t n = cov_blacklist_n_unknown(l->blacklist, &first);
        if (n)
            cov_warn("%s: %zu of %zu names are not in %s, the first is %s", l->o->blacklist_path, n,
                     cov_blacklist_n_names(l->blacklist), input, first);
    }
    if (l->rename && cov_rename_unused(l->rename))
        cov_warn("%s: %zu of %zu names are not in %s", l->o->rename_path,
                 cov_rename_unused(l->rename), cov_rename_count(l->rename), input);
}

int cov_convert_lists_nothing_left(const struct cov_convert_lists *l, const char *input,
                                   struct cov_err *e)
{
    if (l->o->only && l->drops_only)
        return cov_fail(e, COV_EUSAGE, "region %s: %s lists its sequence", l->o->only->text,
                        l->o->blacklist_path);
    if (l->o->only)
        return cov_range_fail_unknown(l->o->only, input, e);
    return cov_fail(e, COV_EINPUT, "%s: no sequence is left to convert%s%s", input,
                    l->blacklist ? ": all are listed in " : "",
                    l->blacklist ? l->o->blacklist_path : "");
}
