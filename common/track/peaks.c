/* peaks.c - see peaks.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/peaks.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"

void cov_peaks_fini(struct cov_peaks *p)
{
    free(p->list);
    *p = (struct cov_peaks){.threshold = p->threshold};
}

void cov_peaks_begin(struct cov_peaks *p)
{
    p->max = -INFINITY;
    p->n = 0;
    p->is_open = false;
}

int cov_peaks_end(struct cov_peaks *p, struct cov_err *e)
{
    bool is_peak = p->is_open && p->open.end - p->open.beg >= COV_PEAKS_LENGTH;
    p->is_open = false;
    if (!is_peak)
        return COV_OK;
    int rc = COV_RESERVE(&p->list, &p->cap, p->n + 1, e);
    if (!rc)
        p->list[p->n++] = p->open;
    return rc;
}

int cov_peaks_add(struct cov_peaks *p, const struct cov_interval *iv, int64_t count, bool counts,
                  struct cov_err *e)
{
    p->max = fmaxf(p->max, iv->value);
    if (!(iv->value >= p->threshold))
        return COV_OK;
    int rc = COV_OK;
    if (p->is_open && iv->beg - p->open.end > COV_PEAKS_GAP)
        rc = cov_peaks_end(p, e);
    if (!p->is_open) {
        p->open.beg = iv->beg;
        p->open.count_beg = count;
    }
    p->is_open = true;
    p->open.end = iv->end;
    p->open.count_end = counts ? count + (iv->end - iv->beg) : count;
    return rc;
}

int64_t cov_peaks_bases(const struct cov_peaks *p)
{
    int64_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->list[i].count_end - p->list[i].count_beg;
    return n;
}

int64_t cov_peaks_shared(const struct cov_peaks *a, const struct cov_peaks *b)
{
    int64_t n = 0;
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        const struct cov_peak *p = &a->list[i], *q = &b->list[k];
        int64_t beg = p->count_beg > q->count_beg ? p->count_beg : q->count_beg;
        int64_t end = p->count_end < q->count_end ? p->count_end : q->count_end;
        n += end > beg ? end - beg : 0;
        if (p->end < q->end)
            i++;
        else
            k++;
    }
    return n;
}
