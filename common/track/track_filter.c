/* track_filter.c - see track_filter.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/track_filter.h"

void cov_track_filter_begin(struct cov_track_filter *f, const struct cov_region *regions,
                            size_t n_regions)
{
    f->regions = regions;
    f->n_regions = n_regions;
    f->at = 0;
    f->n = 0;
}

int cov_track_filter_end(struct cov_track_filter *f, struct cov_err *e)
{
    size_t n = f->n;
    f->n = 0;
    return cov_track_add(f->sink, f->iv, n, e);
}

static int put(struct cov_track_filter *f, int64_t beg, int64_t end, float value, struct cov_err *e)
{
    if (beg >= end)
        return COV_OK;
    f->iv[f->n++] = (struct cov_interval){beg, end, value};
    return f->n == COV_TRACK_FILTER_BLOCK ? cov_track_filter_end(f, e) : COV_OK;
}

int cov_track_filter_add(void *filter, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct cov_track_filter *f = filter;
    if (!f->skip_zero && !f->has_min && f->n_regions == 0)
        return cov_track_add(f->sink, iv, n, e);
    for (size_t i = 0; i < n; i++) {
        if ((f->skip_zero && iv[i].value == 0) || (f->has_min && (double)iv[i].value < f->min))
            continue;
        int64_t beg = iv[i].beg;
        while (f->at < f->n_regions && f->regions[f->at].beg < iv[i].end) {
            const struct cov_region *region = &f->regions[f->at];
            int rc = put(f, beg, region->beg, iv[i].value, e);
            if (rc)
                return rc;
            if (region->end > beg)
                beg = region->end;
            if (region->end >= iv[i].end)
                break; /* it may reach into the next interval */
            f->at++;
        }
        int rc = put(f, beg, iv[i].end, iv[i].value, e);
        if (rc)
            return rc;
    }
    return COV_OK;
}
